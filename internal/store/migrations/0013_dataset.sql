-- How much is given away in bulk. A URL that is the default one is kept as none.

ALTER TABLE catalogue ADD COLUMN dataset TEXT NOT NULL DEFAULT '';

UPDATE tools SET canonical_url = '' WHERE canonical_url = (SELECT url FROM catalogue) || '/outils/' || slug;
UPDATE tools SET avis_url = '' WHERE avis_url = (SELECT url FROM catalogue) || '/avis/' || slug AND body <> '';
UPDATE tools SET alternatives_url = '' WHERE alternatives_url = (SELECT url FROM catalogue) || '/alternatives/' || slug;
