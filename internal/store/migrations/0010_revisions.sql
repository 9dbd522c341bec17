-- Where each version comes from, and what of it no event tells.

ALTER TABLE publications ADD COLUMN revision TEXT NOT NULL DEFAULT ''; -- of git
ALTER TABLE publications ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE publications ADD COLUMN token TEXT NOT NULL DEFAULT ''; -- name of the token it was published with
ALTER TABLE publications ADD COLUMN clean BOOLEAN NOT NULL DEFAULT FALSE; -- the work tree was the revision
ALTER TABLE publications ADD COLUMN records TEXT NOT NULL DEFAULT ''; -- a JSON object, see recordChanges
