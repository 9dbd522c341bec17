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
	turn             BIGINT  NOT NULL  -- the lowest is served first; rises with each claim
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
-- A claim reads these two only, however many deliveries are done.
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_leased ON deliveries (endpoint_id, lease_until) WHERE lease_until <> '';
-- Pings of the last minute, and events that outlive their month because they were
-- requested again.
CREATE INDEX deliveries_asked ON deliveries (sequence, endpoint_id, created_at) WHERE origin <> 'event';

CREATE TABLE attempts (
	delivery_id TEXT    NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
	number      INTEGER NOT NULL,
	at          TEXT    NOT NULL,
	duration    BIGINT  NOT NULL, -- microseconds
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
