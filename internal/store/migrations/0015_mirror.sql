-- What a mirror knows of its origin: one row, or none if the catalogue is published here.

CREATE TABLE mirror (
	id         INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	origin     TEXT    NOT NULL, -- its URL; "" if something was published here and is not replaced yet
	feed       TEXT    NOT NULL, -- what was copied last, up to records; "" before the first copy
	version    BIGINT  NOT NULL,
	position   BIGINT  NOT NULL,
	state      TEXT    NOT NULL,
	updated_at TEXT    NOT NULL, -- the day of the origin's last update
	records    BIGINT  NOT NULL, -- how many there are
	checked_at TEXT    NOT NULL, -- when the origin was last seen to have nothing else
	permitted  BOOLEAN NOT NULL, -- one copy may be of another feed, older or much smaller
	node       TEXT    NOT NULL, -- the one that follows the origin
	node_until TEXT    NOT NULL  -- another one may take over then
);
