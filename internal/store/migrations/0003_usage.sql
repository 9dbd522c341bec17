-- Requests of accounts and networks, by UTC day. A network is stored as a pseudonym
-- derived with the key of the day; once that key is destroyed, nothing leads from a row
-- to an address.

CREATE TABLE usage (
	day        TEXT   NOT NULL,
	account_id TEXT   NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
	requests   BIGINT NOT NULL,
	PRIMARY KEY (day, account_id)
);
CREATE INDEX usage_account ON usage (account_id, day);

CREATE TABLE network_usage (
	day      TEXT   NOT NULL,
	network  TEXT   NOT NULL, -- the pseudonym, hex
	requests BIGINT NOT NULL,
	PRIMARY KEY (day, network)
);

CREATE TABLE day_keys (
	day TEXT NOT NULL PRIMARY KEY,
	key TEXT NOT NULL -- hex
);
