-- The day of the last mail to a reader, and the prices that were told on it: plume=2026-11-17.1f2e3d4c, the day of the
-- change and a checksum of its words; -plume: and taken back.
ALTER TABLE follows ADD COLUMN mailed TEXT NOT NULL DEFAULT '';
