-- Subscriptions to Pro, and the suspension of keys when they end.

-- When the keys above the number of the account's plan are suspended; "" when none is.
ALTER TABLE accounts ADD COLUMN keys_due_at TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN suspended_at TEXT NOT NULL DEFAULT '';

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

-- Customers whose account is deleted or being deleted, until they are no longer
-- charged. Nothing else of the account is here, as these rows outlive it.
CREATE TABLE stripe_cancellations (
	customer_id TEXT NOT NULL PRIMARY KEY,
	seen_at     TEXT NOT NULL -- when a process without a Stripe key first saw it; "" for never
);
