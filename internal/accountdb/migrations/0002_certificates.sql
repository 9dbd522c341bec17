-- Certificates of the site's domains, the account at their authority, and the tokens of orders
-- under way, sealed with the secret key.
CREATE TABLE certificates (
	name   TEXT NOT NULL PRIMARY KEY,
	sealed TEXT NOT NULL
);

-- When a certificate was last ordered. One node orders at a time.
CREATE TABLE certificate_orders (
	domain        TEXT    NOT NULL PRIMARY KEY,
	tried_at      TEXT    NOT NULL,
	claimed_until TEXT    NOT NULL, -- "" if no order is under way
	failures      INTEGER NOT NULL  -- since the last success
);
