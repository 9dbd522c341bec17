-- The events of one type, for those who read the log instead of receiving them.

CREATE INDEX events_type ON events (type, sequence);
