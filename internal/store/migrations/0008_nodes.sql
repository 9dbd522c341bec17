-- Several nodes. The statement that counts returns for each row the total of requests and
-- how many of those it asked for were granted. The latter needs a column, because
-- RETURNING sees only the new row.

ALTER TABLE usage ADD COLUMN granted BIGINT NOT NULL DEFAULT 0;
ALTER TABLE network_usage ADD COLUMN granted BIGINT NOT NULL DEFAULT 0;

-- The oldest version of the tables whose program works with these; 0 for none.
ALTER TABLE palmares_schema ADD COLUMN compatible_from INTEGER NOT NULL DEFAULT 0;
