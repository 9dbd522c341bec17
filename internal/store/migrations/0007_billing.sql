-- Who pays for Pro, and what becomes of keys when nobody does.

-- When the keys above the number of the account's plan are suspended; "" when none is.
ALTER TABLE accounts ADD COLUMN keys_due_at TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN suspended_at TEXT NOT NULL DEFAULT '';

-- One customer of Stripe for an account, made when it first goes to pay, and what
-- was last read of its subscription.
CREATE TABLE subscriptions (
	account_id      TEXT    NOT NULL PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
	customer_id     TEXT    NOT NULL UNIQUE,
	subscription_id TEXT    NOT NULL, -- "" before the first
	status          TEXT    NOT NULL, -- Stripe's word, "" before the first
	period_end      TEXT    NOT NULL,
	cancel_at       TEXT    NOT NULL, -- "" while it renews
	grace_until     TEXT    NOT NULL, -- "" unless a payment has failed
	granted         BOOLEAN NOT NULL, -- Pro came from here, and not from the operator
	version         BIGINT  NOT NULL  -- rises with every write: a reading of what went before is not written
);

-- Events of Stripe that took effect. One is not applied twice.
CREATE TABLE stripe_events (
	id          TEXT NOT NULL PRIMARY KEY,
	received_at TEXT NOT NULL
);
CREATE INDEX stripe_events_received ON stripe_events (received_at);

-- Customers whose account is gone or going, until nothing of theirs is charged any
-- more. Nothing else of the account is here: it outlives the account's rows.
CREATE TABLE stripe_cancellations (
	customer_id TEXT NOT NULL PRIMARY KEY,
	seen_at     TEXT NOT NULL -- when a program without a key of Stripe first saw it; "" for never
);
