-- The tables of readers: see 0001_accounts.sql of package accountdb for the types.

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
	began      BIGINT  NOT NULL, -- the last position of the chronicle when it began
	cursor     BIGINT  NOT NULL, -- the last position that its mails have told; began before the first
	period     TEXT    NOT NULL, -- the day, or the Monday of the week, of the last mail
	mails      INTEGER NOT NULL, -- in that period
	UNIQUE (reader, topic)
);

-- The day of the last mail about reports.
CREATE TABLE reader_cursors (
	name   TEXT NOT NULL PRIMARY KEY, -- reports
	period TEXT NOT NULL
);

-- How often pages were read, and from which other sites readers came. Nothing is about anybody.
CREATE TABLE readership (
	day   TEXT   NOT NULL,
	kind  TEXT   NOT NULL, -- page or host
	name  TEXT   NOT NULL, -- its path or name; autres for all beyond the limits of a day
	views BIGINT NOT NULL,
	PRIMARY KEY (day, kind, name)
);

-- The last batch of views that each process saved, so that none is added twice.
CREATE TABLE readership_writers (
	writer TEXT   NOT NULL PRIMARY KEY,
	batch  BIGINT NOT NULL
);

-- Searches that found nothing, as HMACs with the key of their week, which is destroyed with them.
CREATE TABLE missed_searches (
	week    TEXT NOT NULL,
	words   TEXT NOT NULL, -- HMAC of the words, hex
	network TEXT NOT NULL, -- HMAC of the words and the network, hex
	PRIMARY KEY (week, words, network)
);

-- Those that enough networks made.
CREATE TABLE missed_words (
	week     TEXT   NOT NULL,
	words    TEXT   NOT NULL,
	networks BIGINT NOT NULL,
	PRIMARY KEY (week, words)
);
