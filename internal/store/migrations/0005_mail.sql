-- Mails to be sent: the recipient, the kind and the subject matter, never a text or a
-- link. A mail that was sent or given up is deleted.

CREATE TABLE mails (
	id         TEXT    NOT NULL PRIMARY KEY,
	address    TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	about      TEXT    NOT NULL,
	created_at TEXT    NOT NULL, -- when it was last requested
	due_at     TEXT    NOT NULL, -- of a claimed mail: the end of the lease
	lease      TEXT    NOT NULL, -- of the claim that has it; '' for none
	attempts   INTEGER NOT NULL, -- those that failed
	last_error TEXT    NOT NULL, -- the class of the last failure, never a server's words
	UNIQUE (address, kind, about)
);
CREATE INDEX mails_due ON mails (due_at);
