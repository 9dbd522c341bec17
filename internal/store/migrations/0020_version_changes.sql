-- Which records the last versions changed, so that a server that has one of them in memory
-- reads only those. A version that changed a large part of the catalogue has no row.
CREATE TABLE version_changes (
	version BIGINT NOT NULL PRIMARY KEY,
	records TEXT   NOT NULL -- a JSON object
);

CREATE INDEX record_changes_position ON record_changes (position);
