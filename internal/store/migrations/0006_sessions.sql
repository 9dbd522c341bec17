-- Links that were mailed, the browsers that are signed in, and how many mails who
-- asked for. Links and sessions are kept as SHA-256 only.

CREATE TABLE links (
	hash       TEXT NOT NULL PRIMARY KEY, -- hex
	email      TEXT NOT NULL, -- it need not have an account: the first link makes it; "" after it deleted one
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

-- Addresses and networks stand under a pseudonym, made with the key of the day on
-- which they asked. A day's key is destroyed two days later.
CREATE TABLE link_requests (
	subject    TEXT NOT NULL PRIMARY KEY, -- hex
	sent       TEXT NOT NULL, -- the moments of its mails, Unix milliseconds, oldest first
	expires_at TEXT NOT NULL
);
CREATE INDEX link_requests_expires ON link_requests (expires_at);

CREATE TABLE link_keys (
	day TEXT NOT NULL PRIMARY KEY,
	key TEXT NOT NULL -- hex
);
