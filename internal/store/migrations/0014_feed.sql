-- The last change of every record that is or was public, for those who keep a copy of the
-- catalogue. Rows are replaced and never removed. Those of a catalogue from before are
-- written by feed.go.

CREATE TABLE record_changes (
	kind       TEXT    NOT NULL,
	slug       TEXT    NOT NULL,
	position   BIGINT  NOT NULL, -- rises with every change and is never used twice
	version    BIGINT  NOT NULL,
	at         TEXT    NOT NULL,
	deleted    BOOLEAN NOT NULL,
	renamed_to TEXT    NOT NULL,
	hash       TEXT    NOT NULL,
	size       INTEGER NOT NULL, -- of the record, in bytes
	images     TEXT    NOT NULL, -- a JSON array of objects, or ""
	PRIMARY KEY (kind, slug)
);

ALTER TABLE catalogue ADD COLUMN feed TEXT NOT NULL DEFAULT ''; -- random, of this database
ALTER TABLE catalogue ADD COLUMN feed_format INTEGER NOT NULL DEFAULT 0; -- of the hashed records
ALTER TABLE catalogue ADD COLUMN feed_position BIGINT NOT NULL DEFAULT 0; -- the highest ever used
ALTER TABLE catalogue ADD COLUMN feed_state TEXT NOT NULL DEFAULT ''; -- of this version

-- A release that does not know the feed changes version alone when it publishes, which
-- would leave the feed incomplete. This refuses it; it goes on reading.
ALTER TABLE catalogue ADD COLUMN feed_version BIGINT
	CONSTRAINT upgrade_palmares_to_publish CHECK (feed_version = version);
UPDATE catalogue SET feed_version = version;
