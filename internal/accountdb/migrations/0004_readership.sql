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
