-- When a record became public, to tell what is new from what has changed. Rows from before
-- and deleted records have 0 and ''.

ALTER TABLE record_changes ADD COLUMN first_position BIGINT NOT NULL DEFAULT 0;
ALTER TABLE record_changes ADD COLUMN first_at TEXT NOT NULL DEFAULT '';
