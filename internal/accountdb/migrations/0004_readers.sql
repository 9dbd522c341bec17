-- What readers say is wrong. Addresses are sealed with the secret key, and erased when a report is closed.
CREATE TABLE reports (
	id         TEXT NOT NULL PRIMARY KEY,
	page       TEXT NOT NULL, -- the path of a page; "" for the whole site
	text       TEXT NOT NULL,
	sealed     TEXT NOT NULL, -- the address of who wrote it; "" for none
	created_at TEXT NOT NULL,
	state      TEXT NOT NULL, -- "", corrige or sans-objet
	closed_by  TEXT NOT NULL, -- a name at the desk
	closed_at  TEXT NOT NULL
);
CREATE INDEX reports_created ON reports (created_at);

-- What readers follow by mail. Addresses are sealed with the secret key, and found by a hash with that key.
CREATE TABLE follows (
	id         TEXT    NOT NULL PRIMARY KEY,
	reader     TEXT    NOT NULL, -- keyed hash of the address
	sealed     TEXT    NOT NULL, -- the secret by which it ends, and the address
	hash       TEXT    NOT NULL UNIQUE, -- SHA-256 of that secret, hex
	topic      TEXT    NOT NULL, -- outils/plume, categories/texte, or "" for everything
	pace       TEXT    NOT NULL, -- aussitot or semaine
	created_at TEXT    NOT NULL,
	told       BIGINT  NOT NULL, -- the sequence of the last event that a mail was queued for
	told_from  BIGINT  NOT NULL, -- that of the mail before
	period     TEXT    NOT NULL, -- the day, or the Monday of the week, of the last mail
	mails      INTEGER NOT NULL, -- in that period; one more than it may have if another is due
	UNIQUE (reader, topic)
);
CREATE INDEX follows_topic ON follows (pace, topic, told);

-- How far the mails to readers are: up to which event, and which day or week is done.
CREATE TABLE reader_cursors (
	name     TEXT   NOT NULL PRIMARY KEY,
	sequence BIGINT NOT NULL,
	period   TEXT   NOT NULL
);
