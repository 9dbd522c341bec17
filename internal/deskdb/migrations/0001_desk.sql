-- The tables of the desk: see 0001_accounts.sql of package accountdb for the types.

-- The people of the desk. They belong to the operator: an account that is deleted leaves them.
CREATE TABLE editors (
	email    TEXT NOT NULL PRIMARY KEY, -- the account of this address has the role
	name     TEXT NOT NULL, -- what is published is signed with it
	role     TEXT NOT NULL, -- author or editor
	added_at TEXT NOT NULL
);

-- What somebody writes and has not published.
CREATE TABLE working_copies (
	id         TEXT   NOT NULL PRIMARY KEY,
	path       TEXT   NOT NULL, -- in the content folder
	replaces   TEXT   NOT NULL, -- the path of a file that the publication removes; "" for none
	author     TEXT   NOT NULL, -- an address, perhaps of a former editor
	base       TEXT   NOT NULL, -- SHA-256 of original, hex; "" for a new record
	original   BYTEA  NOT NULL, -- the file it started from
	data       BYTEA  NOT NULL, -- as it is now
	state      TEXT   NOT NULL, -- en-cours, a-relire or prete
	note       TEXT   NOT NULL, -- to the reviewer, or back to the author
	revision   BIGINT NOT NULL, -- rises with every change
	created_at TEXT   NOT NULL,
	saved_at   TEXT   NOT NULL,
	UNIQUE (path, author)
);

-- The pictures of a working copy.
CREATE TABLE copy_files (
	copy_id TEXT  NOT NULL REFERENCES working_copies (id) ON DELETE CASCADE,
	path    TEXT  NOT NULL, -- in the content folder
	bytes   BYTEA NOT NULL,
	PRIMARY KEY (copy_id, path)
);

-- Private links to one page of a working copy. They are kept as SHA-256 only.
CREATE TABLE shares (
	hash       TEXT   NOT NULL PRIMARY KEY, -- hex
	id         TEXT   NOT NULL UNIQUE,
	copy_id    TEXT   NOT NULL REFERENCES working_copies (id) ON DELETE CASCADE,
	maker      TEXT   NOT NULL, -- an address, with whose role they end
	created_at TEXT   NOT NULL,
	expires_at TEXT   NOT NULL,
	views      BIGINT NOT NULL
);
CREATE INDEX shares_copy ON shares (copy_id);
CREATE INDEX shares_expires ON shares (expires_at);
