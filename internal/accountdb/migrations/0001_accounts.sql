-- The tables of accounts. One text for SQLite and PostgreSQL: portable types only, dates and
-- times as fixed-width UTC text, "" for what is not given.

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

-- Accounts and their keys. The revision is not in the catalogue's row, so that a key can
-- be created or revoked while a publication holds the lock on that row.

CREATE TABLE account_state (
	id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	revision BIGINT  NOT NULL
);
INSERT INTO account_state VALUES (1, 0);

CREATE TABLE accounts (
	id          TEXT NOT NULL PRIMARY KEY,
	email       TEXT NOT NULL UNIQUE,
	plan        TEXT NOT NULL,
	created_at  TEXT NOT NULL,
	keys_due_at TEXT NOT NULL DEFAULT '' -- when the keys above the number of its plan are suspended; "" when none is
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
	expires_at   TEXT NOT NULL,
	suspended_at TEXT NOT NULL DEFAULT ''
);
CREATE INDEX api_keys_account ON api_keys (account_id);

-- Requests of accounts and networks, by UTC day. A network is stored as a pseudonym
-- derived with the key of the day; once that key is destroyed, nothing leads from a row
-- to an address. The statement that counts returns for each row the total of requests and
-- how many of those it asked for were granted. The latter needs a column, because
-- RETURNING sees only the new row.

CREATE TABLE usage (
	day        TEXT   NOT NULL,
	account_id TEXT   NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
	requests   BIGINT NOT NULL,
	granted    BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (day, account_id)
);
CREATE INDEX usage_account ON usage (account_id, day);

CREATE TABLE network_usage (
	day      TEXT   NOT NULL,
	network  TEXT   NOT NULL, -- the pseudonym, hex
	requests BIGINT NOT NULL,
	granted  BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (day, network)
);

-- The secret keys of pseudonyms. What is counted under one is never counted under another.
CREATE TABLE pseudonym_keys (
	purpose TEXT NOT NULL, -- usage, links or searches
	day     TEXT NOT NULL, -- the first one of a week
	key     TEXT NOT NULL, -- hex
	PRIMARY KEY (purpose, day)
);

-- Endpoints, and what was or will be sent to each. Bodies are stored once, in events;
-- only a ping has its own, since it comes from no publication.

CREATE TABLE endpoints (
	id               TEXT    NOT NULL PRIMARY KEY,
	account_id       TEXT    NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
	url              TEXT    NOT NULL,
	events           TEXT    NOT NULL, -- a JSON array, or "" for all
	state            TEXT    NOT NULL, -- active, paused or disabled
	reason           TEXT    NOT NULL,
	created_at       TEXT    NOT NULL,
	secret           TEXT    NOT NULL, -- sealed
	old_secret       TEXT    NOT NULL, -- sealed
	old_secret_until TEXT    NOT NULL,
	failures         INTEGER NOT NULL, -- in a row
	failing_since    TEXT    NOT NULL,
	last_success_at  TEXT    NOT NULL,
	disabled_at      TEXT    NOT NULL,
	not_before       TEXT    NOT NULL, -- until then nothing is sent
	probe_at         TEXT    NOT NULL DEFAULT '', -- while the breaker is open, nothing is tried again until then
	turn             BIGINT  NOT NULL, -- the lowest is served first; rises with each claim
	failure_at       TEXT    NOT NULL DEFAULT '', -- why it fails
	failure_outcome  TEXT    NOT NULL DEFAULT '',
	failure_status   INTEGER NOT NULL DEFAULT 0,
	mailed_for       TEXT    NOT NULL DEFAULT '', -- failing_since of the failures that its owner was mailed about
	resumed_at       TEXT    NOT NULL DEFAULT '', -- when its owner last made it active again
	request_key      TEXT    NOT NULL DEFAULT '', -- SHA-256 of the key of the request that created it, hex; '' without one
	request          TEXT    NOT NULL DEFAULT ''  -- and of what it asked for
);
CREATE INDEX endpoints_account ON endpoints (account_id);

CREATE TABLE deliveries (
	id          TEXT    NOT NULL PRIMARY KEY,
	endpoint_id TEXT    NOT NULL REFERENCES endpoints (id) ON DELETE CASCADE,
	sequence    BIGINT  NOT NULL, -- of the event; 0 for a ping
	event_id    TEXT    NOT NULL,
	type        TEXT    NOT NULL,
	origin      TEXT    NOT NULL,
	state       TEXT    NOT NULL,
	created_at  TEXT    NOT NULL,
	next_at     TEXT    NOT NULL, -- while pending; the end of the lease while there is one
	lease_until TEXT    NOT NULL, -- "" when it is not claimed
	attempts    INTEGER NOT NULL, -- that have an outcome
	body        TEXT    NOT NULL  -- of a ping, otherwise ""
);
-- The log of an endpoint, newest first: all, of a type, of a state. Most are
-- delivered, and are found without an index of their own. The time comes before
-- the id because its characters sort alike in every collation.
CREATE INDEX deliveries_log ON deliveries (endpoint_id, created_at, id);
CREATE INDEX deliveries_type ON deliveries (endpoint_id, type, created_at, id);
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, created_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_failed ON deliveries (endpoint_id, created_at, id) WHERE state = 'failed';
CREATE INDEX deliveries_event ON deliveries (endpoint_id, sequence);
-- A claim reads these three only, however many deliveries are done, or wait for a receiver
-- that fails.
CREATE INDEX deliveries_new ON deliveries (endpoint_id, next_at, id) WHERE state = 'pending' AND attempts < 2;
CREATE INDEX deliveries_again ON deliveries (endpoint_id, next_at, id) WHERE state = 'pending' AND attempts >= 2;
CREATE INDEX deliveries_leased ON deliveries (endpoint_id, lease_until) WHERE lease_until <> '';
-- Pings of the last minute, and events that outlive their month because they were
-- requested again.
CREATE INDEX deliveries_asked ON deliveries (sequence, endpoint_id, created_at) WHERE origin <> 'event';

CREATE TABLE attempts (
	delivery_id TEXT    NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
	number      INTEGER NOT NULL,
	at          TEXT    NOT NULL,
	duration    BIGINT  NOT NULL, -- nanoseconds
	status      INTEGER NOT NULL,
	outcome     TEXT    NOT NULL,
	response    TEXT    NOT NULL,
	PRIMARY KEY (delivery_id, number)
);

CREATE TABLE recoveries (
	id             TEXT    NOT NULL PRIMARY KEY,
	endpoint_id    TEXT    NOT NULL REFERENCES endpoints (id) ON DELETE CASCADE,
	since          TEXT    NOT NULL,
	created_at     TEXT    NOT NULL,
	done_at        TEXT    NOT NULL,
	deliveries     INTEGER NOT NULL, -- made so far
	after_sequence BIGINT  NOT NULL, -- the events up to here are done
	last_sequence  BIGINT  NOT NULL  -- and those up to here are to be done
);
CREATE INDEX recoveries_endpoint ON recoveries (endpoint_id, created_at);
CREATE INDEX recoveries_open ON recoveries (created_at, id) WHERE done_at = '';

-- Mails to be sent: the recipient, the kind and the subject matter, never a text or a
-- link. A mail that was sent or given up is deleted.

CREATE TABLE mails (
	id         TEXT    NOT NULL PRIMARY KEY,
	address    TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	about      TEXT    NOT NULL,
	content    TEXT    NOT NULL, -- what it tells, if that is fixed when it is queued; '' otherwise
	created_at TEXT    NOT NULL, -- when it was last requested
	due_at     TEXT    NOT NULL, -- of a claimed mail: the end of the lease
	lease      TEXT    NOT NULL, -- of the claim that has it; '' for none
	attempts   INTEGER NOT NULL, -- those that failed
	last_error TEXT    NOT NULL, -- the class of the last failure, never a server's words
	UNIQUE (address, kind, about)
);
CREATE INDEX mails_due ON mails (due_at);

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

-- Subscriptions to Pro.

-- One Stripe customer per account, created at its first checkout, and the subscription
-- as last read.
CREATE TABLE subscriptions (
	account_id      TEXT    NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
	customer_id     TEXT    NOT NULL UNIQUE,
	subscription_id TEXT    NOT NULL, -- "" before the first
	status          TEXT    NOT NULL, -- Stripe's word, "" before the first
	period_end      TEXT    NOT NULL,
	cancel_at       TEXT    NOT NULL, -- "" while it renews
	grace_until     TEXT    NOT NULL, -- "" unless a payment has failed
	granted         BOOLEAN NOT NULL, -- Pro came from here, and not from the operator
	version         BIGINT  NOT NULL  -- rises with every write: what was read before another write is not stored
);

-- Stripe events that were applied. None is applied twice.
CREATE TABLE stripe_events (
	id          TEXT NOT NULL PRIMARY KEY,
	received_at TEXT NOT NULL
);
CREATE INDEX stripe_events_received ON stripe_events (received_at);

-- Certificates of the site's domains, the account at their authority, and the tokens of orders
-- under way, under the names that autocert gives them.
CREATE TABLE certificates (
	name     TEXT    NOT NULL PRIMARY KEY,
	sealed   TEXT    NOT NULL DEFAULT '', -- with the secret key; "" while there is none
	next_at  TEXT    NOT NULL DEFAULT '', -- of a domain: no node orders before
	failures INTEGER NOT NULL DEFAULT 0   -- of a domain: orders since the last success
);
