-- Several nodes. A statement that counts gives back what it made of a row: how many
-- requests there are now, and how many of those asked for it granted. No other way
-- tells the second from the first, exactly, in one statement.

ALTER TABLE usage ADD COLUMN granted BIGINT NOT NULL DEFAULT 0;
ALTER TABLE network_usage ADD COLUMN granted BIGINT NOT NULL DEFAULT 0;

-- The oldest version of the tables whose program works on these; 0 for none.
ALTER TABLE palmares_schema ADD COLUMN compatible_from INTEGER NOT NULL DEFAULT 0;
