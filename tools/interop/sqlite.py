"""Reads the SQLite file of the export with Python's sqlite3."""

import hashlib
import json
import os
import sqlite3

work = os.environ["PALMARES_WORK"]
manifest = json.load(open(work + "/manifest.json"))
db = sqlite3.connect(f"file:{work}/palmares.sqlite?mode=ro", uri=True)
assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)

feed, version, position, state = db.execute("SELECT feed, version, position, state FROM meta").fetchone()
assert (feed, version, position, state) == tuple(manifest[k] for k in ("feed", "version", "position", "state"))

lines = []
folders = {"outil": "outils", "comparatif": "comparatifs", "cimetiere": "cimetiere", "page": "pages", "article": "articles", "auteur": "auteurs", "preuve": "preuves"}
for kind, folder in folders.items():
    rows = db.execute(f"SELECT slug, hash, record FROM {folder} ORDER BY id").fetchall()
    ndjson = open(f"{work}/{folder}.ndjson", encoding="utf-8", newline="\n").read()
    assert ndjson == "".join(record + "\n" for _, _, record in rows), kind
    for slug, digest, record in rows:
        assert digest == "sha256-" + hashlib.sha256(record.encode()).hexdigest(), slug
        assert record == json.dumps(json.loads(record), ensure_ascii=False, separators=(",", ":")), slug
        lines.append((kind, slug, digest))
lines.append(("catalogue", "catalogue", db.execute("SELECT hash FROM meta").fetchone()[0]))
copy = hashlib.sha256("".join("\0".join(line) + "\n" for line in sorted(lines)).encode()).hexdigest()
assert state == "sha256-" + copy, "the copy has another state"

found = db.execute("SELECT count(*) FROM search WHERE search MATCH 'editeur'").fetchone()[0]
accented = db.execute("SELECT count(*) FROM search WHERE search MATCH 'éditeur'").fetchone()[0]
assert found == accented > 0, (found, accented)
assert db.execute("SELECT count(*) FROM price_history").fetchone()[0] > 0
print(f"sqlite3 of Python, SQLite {sqlite3.sqlite_version}: {len(lines)} records have the state of the manifest, {found} mention an éditeur")
