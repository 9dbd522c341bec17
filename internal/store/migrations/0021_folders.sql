-- The digest of the content folder that made a version, or that was found to be what it has,
-- and the days on which publishing that folder again certainly changes nothing and gives no
-- warnings. '' if that is not known.

ALTER TABLE publications ADD COLUMN folder TEXT NOT NULL DEFAULT '';
ALTER TABLE publications ADD COLUMN folder_from TEXT NOT NULL DEFAULT '';
ALTER TABLE publications ADD COLUMN folder_until TEXT NOT NULL DEFAULT '';
