-- The published catalogue. One text for SQLite and PostgreSQL: portable types only,
-- dates and times as fixed-width UTC text, "" for what is not given. There are no
-- foreign keys among the records: a publication writes them in any order, and the
-- catalogue was validated as a whole before.

CREATE TABLE catalogue (
	id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	name         TEXT    NOT NULL,
	url          TEXT    NOT NULL,
	version      BIGINT  NOT NULL,
	sequence     BIGINT  NOT NULL, -- of the last event
	published_at TEXT    NOT NULL,
	changed_on   TEXT    NOT NULL
);
INSERT INTO catalogue VALUES (1, '', '', 0, 0, '', '');

CREATE TABLE categories (
	slug  TEXT NOT NULL PRIMARY KEY,
	label TEXT NOT NULL
);

CREATE TABLE tools (
	slug             TEXT    NOT NULL PRIMARY KEY,
	name             TEXT    NOT NULL,
	domain           TEXT    NOT NULL,
	category         TEXT    NOT NULL,
	icp              TEXT    NOT NULL,
	pricing          TEXT    NOT NULL,
	price            TEXT    NOT NULL,
	tagline          TEXT    NOT NULL,
	score            DOUBLE PRECISION,
	verifiability    DOUBLE PRECISION,
	obsolescence     DOUBLE PRECISION,
	tier             INTEGER NOT NULL,
	mainstream       BOOLEAN NOT NULL,
	updated_at       TEXT    NOT NULL,
	canonical_url    TEXT    NOT NULL,
	avis_url         TEXT    NOT NULL,
	alternatives_url TEXT    NOT NULL,
	tested_at        TEXT    NOT NULL,
	price_checked_at TEXT    NOT NULL,
	sources          TEXT    NOT NULL, -- a JSON array, or ""
	aliases          TEXT    NOT NULL, -- a JSON array, or ""
	body             TEXT    NOT NULL
);

-- Kept also for tools that are no longer active, hence no reference to tools.
CREATE TABLE price_history (
	slug        TEXT    NOT NULL,
	position    INTEGER NOT NULL, -- 0 is the newest
	changed_at  TEXT    NOT NULL,
	old_pricing TEXT    NOT NULL,
	old_price   TEXT    NOT NULL,
	new_pricing TEXT    NOT NULL,
	new_price   TEXT    NOT NULL,
	PRIMARY KEY (slug, position)
);

CREATE TABLE comparisons (
	slug        TEXT    NOT NULL PRIMARY KEY,
	title       TEXT    NOT NULL,
	tool_a      TEXT    NOT NULL,
	tool_b      TEXT    NOT NULL,
	winner      TEXT    NOT NULL,
	winner_note TEXT    NOT NULL,
	published   BOOLEAN NOT NULL,
	updated_at  TEXT    NOT NULL,
	body        TEXT    NOT NULL
);

CREATE TABLE retired (
	slug       TEXT NOT NULL PRIMARY KEY,
	name       TEXT NOT NULL,
	category   TEXT NOT NULL,
	reason     TEXT NOT NULL,
	retired_at TEXT NOT NULL,
	successor  TEXT NOT NULL,
	body       TEXT NOT NULL,
	note       TEXT NOT NULL
);

CREATE TABLE publications (
	version        BIGINT NOT NULL PRIMARY KEY,
	published_at   TEXT   NOT NULL,
	first_sequence BIGINT NOT NULL,
	last_sequence  BIGINT NOT NULL,
	changes        TEXT   NOT NULL -- a JSON object: how many events of each type
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
