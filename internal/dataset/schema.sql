CREATE TABLE meta (
	feed TEXT NOT NULL, version INTEGER NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL, credit TEXT NOT NULL, published_at TEXT NOT NULL,
	hash TEXT NOT NULL, record TEXT NOT NULL -- of the catalogue
);
CREATE TABLE categories (slug TEXT PRIMARY KEY, label TEXT NOT NULL, description TEXT NOT NULL, position INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tools (
	id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL, domain TEXT NOT NULL, category TEXT NOT NULL, icp TEXT NOT NULL, pricing TEXT NOT NULL, price TEXT NOT NULL, price_display TEXT,
	tagline TEXT NOT NULL, logo TEXT, image TEXT, score REAL, verifiability REAL, obsolescence REAL, tier INTEGER NOT NULL, mainstream INTEGER NOT NULL,
	updated_at TEXT NOT NULL, canonical_url TEXT NOT NULL, avis_url TEXT, alternatives_url TEXT NOT NULL, tested_at TEXT, price_checked_at TEXT, score_note TEXT,
	hash TEXT NOT NULL, record TEXT NOT NULL
);
CREATE TABLE comparisons (
	id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE,
	title TEXT NOT NULL, tool_a TEXT NOT NULL, tool_b TEXT NOT NULL, winner TEXT NOT NULL, winner_note TEXT, updated_at TEXT NOT NULL, image TEXT,
	hash TEXT NOT NULL, record TEXT NOT NULL
);
CREATE TABLE retired (
	id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL, category TEXT NOT NULL, reason TEXT NOT NULL, retired_at TEXT NOT NULL, successor TEXT,
	hash TEXT NOT NULL, record TEXT NOT NULL
);
CREATE TABLE pages (
	id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE,
	title TEXT NOT NULL, menu TEXT NOT NULL, description TEXT, image TEXT,
	hash TEXT NOT NULL, record TEXT NOT NULL
);
CREATE TABLE price_history (
	tool TEXT NOT NULL, changed_at TEXT NOT NULL, old_pricing TEXT NOT NULL, old_price TEXT NOT NULL, new_pricing TEXT NOT NULL, new_price TEXT NOT NULL
);
CREATE TABLE score_history (
	tool TEXT NOT NULL, changed_at TEXT NOT NULL, old_score REAL, new_score REAL, old_verifiability REAL, new_verifiability REAL,
	old_obsolescence REAL, new_obsolescence REAL, note TEXT
);
CREATE VIEW documents AS
	SELECT id, 'outil' AS kind, slug, name, tagline, json_extract(record, '$.body') AS body FROM tools
	UNION ALL SELECT id, 'comparatif', slug, title, winner_note, json_extract(record, '$.body') FROM comparisons
	UNION ALL SELECT id, 'cimetiere', slug, name, NULL, json_extract(record, '$.body') FROM retired
	UNION ALL SELECT id, 'page', slug, title, description, json_extract(record, '$.body') FROM pages;
CREATE VIRTUAL TABLE search USING fts5(
	kind UNINDEXED, slug UNINDEXED, name, tagline, body, content = 'documents', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
