-- The nodes that count requests in this database, so that one without others can count in
-- memory. Only on PostgreSQL; copies do not have them.
CREATE TABLE counting_nodes (
	id       TEXT    NOT NULL PRIMARY KEY, -- random, of one process
	renewals BIGINT  NOT NULL,             -- it increases while the node is there
	sole     BOOLEAN NOT NULL              -- it counts in memory: others wait before they count
);
