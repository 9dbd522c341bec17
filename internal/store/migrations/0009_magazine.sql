-- What a magazine needs: settings, pages, pictures, plans, authors, and the history of
-- scores.

ALTER TABLE catalogue ADD COLUMN headline TEXT NOT NULL DEFAULT '';
ALTER TABLE catalogue ADD COLUMN introduction TEXT NOT NULL DEFAULT '';
ALTER TABLE catalogue ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE catalogue ADD COLUMN contact TEXT NOT NULL DEFAULT '';
ALTER TABLE catalogue ADD COLUMN publisher TEXT NOT NULL DEFAULT '';
ALTER TABLE catalogue ADD COLUMN logo TEXT NOT NULL DEFAULT '';
ALTER TABLE catalogue ADD COLUMN pro TEXT NOT NULL DEFAULT '';

ALTER TABLE categories ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE categories ADD COLUMN aliases TEXT NOT NULL DEFAULT ''; -- a JSON array, or ""
ALTER TABLE categories ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
-- Until the next publication says otherwise, the order is that of the slugs.
UPDATE categories SET position = (SELECT count(*) FROM categories AS earlier WHERE earlier.slug < categories.slug);

ALTER TABLE tools ADD COLUMN price_display TEXT NOT NULL DEFAULT '';
ALTER TABLE tools ADD COLUMN plans TEXT NOT NULL DEFAULT ''; -- a JSON array of objects, or ""
ALTER TABLE tools ADD COLUMN authors TEXT NOT NULL DEFAULT ''; -- a JSON array, or ""
ALTER TABLE tools ADD COLUMN logo TEXT NOT NULL DEFAULT '';
ALTER TABLE tools ADD COLUMN image TEXT NOT NULL DEFAULT '';
ALTER TABLE tools ADD COLUMN price_history_mode TEXT NOT NULL DEFAULT '';
ALTER TABLE tools ADD COLUMN score_note TEXT NOT NULL DEFAULT '';

ALTER TABLE comparisons ADD COLUMN authors TEXT NOT NULL DEFAULT ''; -- a JSON array, or ""
ALTER TABLE comparisons ADD COLUMN aliases TEXT NOT NULL DEFAULT ''; -- a JSON array, or ""
ALTER TABLE comparisons ADD COLUMN image TEXT NOT NULL DEFAULT '';

ALTER TABLE price_history ADD COLUMN automatic BOOLEAN NOT NULL DEFAULT FALSE;

-- Kept also for tools that are no longer active, hence no reference to tools.
CREATE TABLE score_history (
	slug              TEXT    NOT NULL,
	position          INTEGER NOT NULL, -- 0 is the newest
	changed_at        TEXT    NOT NULL,
	old_score         DOUBLE PRECISION,
	new_score         DOUBLE PRECISION,
	old_verifiability DOUBLE PRECISION,
	new_verifiability DOUBLE PRECISION,
	old_obsolescence  DOUBLE PRECISION,
	new_obsolescence  DOUBLE PRECISION,
	note              TEXT    NOT NULL,
	automatic         BOOLEAN NOT NULL,
	PRIMARY KEY (slug, position)
);

-- The last price and figures of tools that are no longer active.
CREATE TABLE past_tools (
	slug          TEXT NOT NULL PRIMARY KEY,
	pricing       TEXT NOT NULL,
	price         TEXT NOT NULL,
	score         DOUBLE PRECISION,
	verifiability DOUBLE PRECISION,
	obsolescence  DOUBLE PRECISION
);

CREATE TABLE pages (
	slug        TEXT NOT NULL PRIMARY KEY,
	title       TEXT NOT NULL,
	menu        TEXT NOT NULL,
	description TEXT NOT NULL,
	image       TEXT NOT NULL,
	body        TEXT NOT NULL
);

-- The pictures of the catalogue by their path in the content folder. Equal files share
-- their bytes.
CREATE TABLE pictures (
	path     TEXT    NOT NULL PRIMARY KEY,
	source   TEXT    NOT NULL, -- SHA-256 of the file in the folder
	hash     TEXT    NOT NULL, -- SHA-256 of what is served
	ext      TEXT    NOT NULL,
	width    INTEGER NOT NULL,
	height   INTEGER NOT NULL,
	variants TEXT    NOT NULL -- a JSON array of objects, or ""
);

-- The bytes of pictures and of their variants.
CREATE TABLE picture_files (
	hash    TEXT   NOT NULL PRIMARY KEY,
	left_in BIGINT NOT NULL, -- the first version that no longer uses it; 0 while it is used
	bytes   BYTEA  NOT NULL
);
