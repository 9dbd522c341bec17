-- The tables of records and of their histories are made from the tables of fields in catalog.
CREATE TABLE meta (
	feed TEXT NOT NULL, version INTEGER NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL, credit TEXT NOT NULL, published_at TEXT NOT NULL,
	hash TEXT NOT NULL, record TEXT NOT NULL -- of the catalogue
);
CREATE TABLE categories (slug TEXT PRIMARY KEY, label TEXT NOT NULL, description TEXT NOT NULL, position INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIEW documents AS
	SELECT id, 'outil' AS kind, slug, name, tagline, json_extract(record, '$.body') AS body FROM tools
	UNION ALL SELECT id, 'comparatif', slug, title, winner_note, json_extract(record, '$.body') FROM comparisons
	UNION ALL SELECT id, 'cimetiere', slug, name, NULL, json_extract(record, '$.body') FROM retired
	UNION ALL SELECT id, 'page', slug, title, description, json_extract(record, '$.body') FROM pages
	UNION ALL SELECT id, 'article', slug, title, description, json_extract(record, '$.body') FROM articles
	UNION ALL SELECT id, 'author', slug, name, role, json_extract(record, '$.body') FROM authors;
CREATE VIRTUAL TABLE search USING fts5(
	kind UNINDEXED, slug UNINDEXED, name, tagline, body, content = 'documents', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
