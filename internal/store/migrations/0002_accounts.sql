-- Accounts and their keys. The revision is not in the catalogue's row, so that
-- a key can be created or revoked while a publication holds the lock on that row.

CREATE TABLE account_state (
	id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	revision BIGINT  NOT NULL
);
INSERT INTO account_state VALUES (1, 0);

CREATE TABLE accounts (
	id         TEXT NOT NULL PRIMARY KEY,
	email      TEXT NOT NULL UNIQUE,
	plan       TEXT NOT NULL,
	created_at TEXT NOT NULL
);

CREATE TABLE api_keys (
	id           TEXT NOT NULL PRIMARY KEY,
	account_id   TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
	hash         TEXT NOT NULL UNIQUE, -- SHA-256, hex; the key itself is nowhere
	name         TEXT NOT NULL,
	prefix       TEXT NOT NULL,
	suffix       TEXT NOT NULL,
	created_at   TEXT NOT NULL,
	last_used_at TEXT NOT NULL,
	revoked_at   TEXT NOT NULL,
	expires_at   TEXT NOT NULL
);
CREATE INDEX api_keys_account ON api_keys (account_id);
