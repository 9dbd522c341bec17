-- The tables of records and of their histories, and the view of all documents, are made from the tables of kinds and of
-- fields in catalog.
CREATE TABLE meta (
	feed TEXT NOT NULL, version INTEGER NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL, credit TEXT NOT NULL, published_at TEXT NOT NULL,
	hash TEXT NOT NULL, record TEXT NOT NULL -- of the catalogue
);
CREATE TABLE categories (slug TEXT PRIMARY KEY, label TEXT NOT NULL, description TEXT NOT NULL, position INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5(
	kind UNINDEXED, slug UNINDEXED, name, tagline, body, content = 'documents', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
