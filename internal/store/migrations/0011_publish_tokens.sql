-- Tokens for publishing from elsewhere. They are kept as SHA-256 only.

CREATE TABLE publish_tokens (
	id           TEXT NOT NULL PRIMARY KEY,
	hash         TEXT NOT NULL UNIQUE, -- hex
	name         TEXT NOT NULL,
	prefix       TEXT NOT NULL,
	suffix       TEXT NOT NULL,
	created_at   TEXT NOT NULL,
	expires_at   TEXT NOT NULL,
	revoked_at   TEXT NOT NULL,
	last_used_at TEXT NOT NULL
);
