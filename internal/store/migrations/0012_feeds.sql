-- What feeds tell of tools that are no longer active, and what their files said about
-- their price histories.

ALTER TABLE past_tools ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE past_tools ADD COLUMN category TEXT NOT NULL DEFAULT '';
ALTER TABLE past_tools ADD COLUMN price_history_mode TEXT NOT NULL DEFAULT '';

-- Of the events up to this one, only those of feeds and those sent again are kept.
ALTER TABLE catalogue ADD COLUMN pruned_sequence BIGINT NOT NULL DEFAULT 0;
