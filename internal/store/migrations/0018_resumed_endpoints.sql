-- When its owner last made an endpoint active again.

ALTER TABLE endpoints ADD COLUMN resumed_at TEXT NOT NULL DEFAULT '';
