-- Mailed links, sessions, and how many mails were requested by address and network.
-- Links and sessions are kept as SHA-256 only.

CREATE TABLE links (
	hash       TEXT NOT NULL PRIMARY KEY, -- hex
	email      TEXT NOT NULL, -- may have no account yet: the first link creates it; "" after a link deleted one
	purpose    TEXT NOT NULL,
	created_at TEXT NOT NULL,
	expires_at TEXT NOT NULL,
	used_at    TEXT NOT NULL
);
CREATE INDEX links_expires ON links (expires_at);
CREATE INDEX links_email ON links (email);

CREATE TABLE sessions (
	hash       TEXT NOT NULL PRIMARY KEY, -- hex, of what the cookie holds
	id         TEXT NOT NULL UNIQUE, -- its name in the owner's list
	account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
	browser    TEXT NOT NULL,
	created_at TEXT NOT NULL,
	seen_on    TEXT NOT NULL,
	expires_at TEXT NOT NULL
);
CREATE INDEX sessions_account ON sessions (account_id);
CREATE INDEX sessions_expires ON sessions (expires_at);

-- Addresses and networks are stored as pseudonyms derived with the key of the day of the
-- request. A day's key is destroyed two days later.
CREATE TABLE link_requests (
	subject    TEXT NOT NULL PRIMARY KEY, -- hex
	sent       TEXT NOT NULL, -- times of its mails, Unix milliseconds, oldest first
	expires_at TEXT NOT NULL
);
CREATE INDEX link_requests_expires ON link_requests (expires_at);

CREATE TABLE link_keys (
	day TEXT NOT NULL PRIMARY KEY,
	key TEXT NOT NULL -- hex
);
