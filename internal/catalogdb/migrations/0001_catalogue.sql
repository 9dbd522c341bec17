-- The tables of the catalogue. One text for SQLite and PostgreSQL: portable types only, dates and times as
-- fixed-width UTC text, "" for what is not given.

-- The published version of the catalogue.
CREATE TABLE catalogue (
	id              INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	url             TEXT    NOT NULL, -- of the site
	version         BIGINT  NOT NULL,
	sequence        BIGINT  NOT NULL, -- of the last event
	pruned_sequence BIGINT  NOT NULL, -- of the events up to this one, only those sent again are kept
	published_at    TEXT    NOT NULL,
	changed_on      TEXT    NOT NULL,
	feed            TEXT    NOT NULL, -- random, of this database
	feed_format     INTEGER NOT NULL, -- of the hashed records
	feed_position   BIGINT  NOT NULL, -- the highest ever used
	feed_state      TEXT    NOT NULL, -- of this version
	tools_view      TEXT    NOT NULL, -- the query of the view of that name
	chronicle       BIGINT  NOT NULL, -- the last position of the entries
	due             TEXT    NOT NULL  -- when something happens by itself next: YYYY-MM-DDTHH:MM:SSZ, or ""
);

-- The records of the catalogue, which are the feed of their changes as well. Rows of public
-- records are replaced and never removed. The view tools_view shows those of tools.
CREATE TABLE records (
	kind           TEXT    NOT NULL,
	slug           TEXT    NOT NULL,
	public         BOOLEAN NOT NULL, -- the public sees the record, or saw it
	position       BIGINT  NOT NULL, -- in the feed: rises with every change and is never used twice; 0 if not public
	version        BIGINT  NOT NULL, -- that made the change; the same for at
	at             TEXT    NOT NULL,
	deleted        BOOLEAN NOT NULL,
	renamed_to     TEXT    NOT NULL,
	first_position BIGINT  NOT NULL, -- when the record became public for the first time
	first_at       TEXT    NOT NULL,
	hash           TEXT    NOT NULL, -- of the document
	document       TEXT    NOT NULL, -- JSON, of a public record in its canonical form; "" if it is deleted
	private        TEXT    NOT NULL, -- a JSON object with what the document does not say, or ""
	written        BIGINT  NOT NULL, -- the version that last wrote the row
	PRIMARY KEY (kind, slug, public)
);
CREATE INDEX records_written ON records (written);

-- What the last versions replaced or removed.
CREATE TABLE former_records (
	until    BIGINT  NOT NULL, -- the first version without it
	kind     TEXT    NOT NULL,
	slug     TEXT    NOT NULL,
	public   BOOLEAN NOT NULL,
	hash     TEXT    NOT NULL,
	document TEXT    NOT NULL, -- "" if the version wrote a row that held nothing before
	private  TEXT    NOT NULL,
	PRIMARY KEY (until, kind, slug, public)
);

-- When the database was last looked after.
CREATE TABLE upkeep (
	task  TEXT   NOT NULL PRIMARY KEY, -- "backup", "copy", or "check" and the name of a machine
	at    TEXT   NOT NULL,
	wrong BIGINT NOT NULL -- how much a check has found wrong
);

-- The bytes of pictures and of their variants.
CREATE TABLE picture_files (
	hash    TEXT   NOT NULL PRIMARY KEY,
	left_in BIGINT NOT NULL, -- the first version that no longer uses it; 0 while it is used
	bytes   BYTEA  NOT NULL
);

CREATE TABLE publications (
	version        BIGINT  NOT NULL PRIMARY KEY,
	published_at   TEXT    NOT NULL,
	first_sequence BIGINT  NOT NULL,
	last_sequence  BIGINT  NOT NULL,
	changes        TEXT    NOT NULL, -- a JSON object: how many events of each type
	revision       TEXT    NOT NULL, -- of git
	author         TEXT    NOT NULL,
	token          TEXT    NOT NULL, -- name of the token it was published with
	clean          BOOLEAN NOT NULL, -- the work tree was the revision
	records        TEXT    NOT NULL, -- a JSON object: what of the version no event tells
	due            TEXT    NOT NULL  -- the hour at which the version made itself; "" if somebody published it
);

-- The records that are not public before their hour, and what the pictures are that only they use.
CREATE TABLE scheduled (
	kind     TEXT NOT NULL,
	slug     TEXT NOT NULL,
	due      TEXT NOT NULL, -- as in catalogue; "" for a picture
	document TEXT NOT NULL, -- JSON, as in records
	problem  TEXT NOT NULL, -- why it is not public although its hour has passed; "" for none
	PRIMARY KEY (kind, slug, due)
);

CREATE TABLE events (
	sequence   BIGINT NOT NULL PRIMARY KEY,
	version    BIGINT NOT NULL REFERENCES publications (version),
	id         TEXT   NOT NULL UNIQUE,
	type       TEXT   NOT NULL,
	slug       TEXT   NOT NULL,
	created_at TEXT   NOT NULL,
	body       TEXT   NOT NULL -- the bytes that every webhook sends
);
CREATE INDEX events_type ON events (type, sequence);

-- The chronicle: what happened, the states of an entry for each field of a record and day. Rows are never changed.
CREATE TABLE entries (
	id         TEXT    NOT NULL, -- of kind, first slug, what, field and day
	position   BIGINT  NOT NULL, -- rises with each state; 0 for what the records of the first version tell
	kind       TEXT    NOT NULL,
	slug       TEXT    NOT NULL,
	first_slug TEXT    NOT NULL, -- the oldest one
	name       TEXT    NOT NULL,
	what       TEXT    NOT NULL,
	field      TEXT    NOT NULL,
	old_value  TEXT    NOT NULL,
	new_value  TEXT    NOT NULL,
	note       TEXT    NOT NULL,
	day        TEXT    NOT NULL,
	at         TEXT    NOT NULL, -- when it was published; "" if only a record tells it, which no mail does
	topics     TEXT    NOT NULL, -- of readers, with spaces between them
	withdrawn  BOOLEAN NOT NULL,
	version    BIGINT  NOT NULL,
	PRIMARY KEY (id, position)
);
CREATE INDEX entries_position ON entries (position);
CREATE INDEX entries_version ON entries (version);
CREATE INDEX entries_removed ON entries (kind, slug, first_slug) WHERE what = 'removed';

INSERT INTO catalogue VALUES (1, '', 0, 0, 0, '', '', '', 0, 0, '', '', 0, '');
