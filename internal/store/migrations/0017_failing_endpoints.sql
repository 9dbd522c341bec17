-- Why an endpoint fails, and about which failures its owner was mailed.

ALTER TABLE endpoints ADD COLUMN failure_at TEXT NOT NULL DEFAULT '';
ALTER TABLE endpoints ADD COLUMN failure_outcome TEXT NOT NULL DEFAULT '';
ALTER TABLE endpoints ADD COLUMN failure_status INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoints ADD COLUMN mailed_for TEXT NOT NULL DEFAULT ''; -- failing_since of those failures
