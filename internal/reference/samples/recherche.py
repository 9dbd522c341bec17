"""Une question, les passages des avis qui y répondent, et leur source.

Chaque exécution met d’abord à jour une base locale, dont l’empreinte prouve qu’elle est
celle du catalogue : un outil retiré est oublié, un outil renommé suivi, une note
remplacée ; seul un texte nouveau est vectorisé.
"""
import gzip
import hashlib
import json
import math
import os
import re
import sqlite3
import sys
import time
import urllib.error
import urllib.request

BASE = "https://palmares.example"
KEY = os.environ["PALMARES_KEY"]
CREDIT = "Source : Palmarès (https://palmares.example)"
TABLES = """
CREATE TABLE IF NOT EXISTS position (feed TEXT, next INTEGER);
CREATE TABLE IF NOT EXISTS records (kind TEXT, slug TEXT, hash TEXT, record TEXT, PRIMARY KEY (kind, slug));
CREATE TABLE IF NOT EXISTS documents (slug TEXT PRIMARY KEY, hash TEXT);
CREATE TABLE IF NOT EXISTS chunks (slug TEXT, position INTEGER, url TEXT, text TEXT, hash TEXT);
CREATE TABLE IF NOT EXISTS vectors (hash TEXT PRIMARY KEY, vector TEXT);
"""


def fetch(path, expected=0):
    """Rend les octets de la réponse ; None si elle a le statut attendu."""
    request = urllib.request.Request(BASE + path, headers={"Authorization": "Bearer " + KEY})
    for attempt in range(4):
        try:
            with urllib.request.urlopen(request) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            if error.code == expected:
                return None
            if error.code != 503 or attempt == 3:
                sys.exit(json.load(error)["error"])
            time.sleep(int(error.headers["Retry-After"]))  # l’export se prépare, par exemple


def get(path, expected=0):
    """Rend la réponse, lue ; None si elle a le statut attendu."""
    body = fetch(path, expected)
    return None if body is None else json.loads(body)


def embed(text):
    """À remplacer par votre modèle : ici, les trigrammes des mots, comptés."""
    vector = [0.0] * 512
    for word in re.findall(r"\w+", text.lower()):
        for i in range(len(word) - 2):
            digest = hashlib.md5(word[i : i + 3].encode()).digest()
            vector[int.from_bytes(digest[:2], "big") % 512] += 1
    length = math.hypot(*vector) or 1.0
    return [x / length for x in vector]


def follow(db):
    """Suit le flux des changements : la table records devient celle du catalogue."""
    feed, after = db.execute("SELECT feed, next FROM position").fetchone() or ("", 0)
    meta = changes(db, feed, after)
    if meta is None or state(db) != meta["state"]:  # la base du service a été remplacée ou restaurée : tout relire
        db.execute("DELETE FROM records")
        meta = changes(db, "", 0)
        if meta is None or state(db) != meta["state"]:
            sys.exit("La copie n’est pas celle du catalogue.")
    db.execute("DELETE FROM position")
    db.execute("INSERT INTO position VALUES (?, ?)", (meta["feed"], meta["next"]))


def changes(db, feed, after):
    """Applique les changements après une position. Rend où en est le flux ; None si ce n’est plus le même."""
    more = True
    while more:
        page = get(f"/data/v1/changes?after={after}" + (f"&feed={feed}" if feed else ""), expected=409)
        if page is None:
            return None
        for change in page["data"]:
            db.execute("DELETE FROM records WHERE kind = ? AND slug = ?", (change["kind"], change["slug"]))
            if not change["deleted"]:  # un nouveau nom a sa propre ligne dans le flux
                row = change["kind"], change["slug"], change["hash"], json.dumps(change["record"])
                db.execute("INSERT INTO records VALUES (?, ?, ?, ?)", row)
        meta = page["meta"]
        feed, after, more = meta["feed"], meta["next"], meta["more"]
    return meta


def state(db):
    """L’empreinte de tous les enregistrements."""
    lines = ("\0".join(row) + "\n" for row in db.execute("SELECT kind, slug, hash FROM records"))
    return digest(b"".join(sorted(line.encode() for line in lines)))


def digest(data):
    return "sha256-" + hashlib.sha256(data).hexdigest()


def read(wanted):
    """Lit les segments d’outils de la sélection, d’empreintes données : plus de dix se lisent d’un coup, dans un fichier."""
    file = fetch("/data/v1/export/latest/chunks.ndjson.gz", expected=404) if len(wanted) > 10 else None
    found = {}
    for line in gzip.decompress(file).splitlines() if file else []:
        chunk = json.loads(line)
        found.setdefault(chunk["slug"], []).append((chunk["url"], chunk["text"]))
    for slug, hash in wanted.items():
        texts = [text for _, text in found.get(slug, [])]
        if digest("\n\n".join(texts).encode()) != hash:  # il n’y est pas, ou d’une autre version
            document = get("/api/embeddings/" + slug, expected=404) or {"chunks": []}
            found[slug] = [(chunk["metadata"]["canonical_url"], chunk["text"]) for chunk in document["chunks"]]
    return found


FENCE = re.compile(r"[\s>]*(?:(?:[-*+]|\d+[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})")


def cut(record):
    """Découpe un autre avis à ses titres « ## », hors du code. Le texte reste en Markdown, que les modèles lisent."""
    parts, fence = [""], ""
    for line in record["body"].split("\n"):
        mark, rest = FENCE.match(line), line.strip(" \t\r>")
        if fence:
            if len(rest) >= len(fence) and set(rest) == {fence[0]}:
                fence = ""
        elif mark:
            fence = mark[1]
        elif re.match(r" {0,3}##[ \t]", line):
            parts.append("")
        parts[-1] += line + "\n"
    return [(record["avis_url"], part.strip("\r\n")) for part in parts if part.strip()]


def replace(db, slug, hash, passages):
    """Remplace les passages d’un outil, et ne vectorise que les textes nouveaux."""
    db.execute("DELETE FROM documents WHERE slug = ?", (slug,))
    db.execute("DELETE FROM chunks WHERE slug = ?", (slug,))
    if passages:
        db.execute("INSERT INTO documents VALUES (?, ?)", (slug, hash))
    for position, (url, text) in enumerate(passages):
        key = digest(text.encode())
        db.execute("INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", (slug, position, url, text, key))
        if not db.execute("SELECT 1 FROM vectors WHERE hash = ?", (key,)).fetchone():
            db.execute("INSERT INTO vectors VALUES (?, ?)", (key, json.dumps(embed(text))))


def refresh(db):
    """Relit les avis dont l’empreinte a changé, et oublie ceux qui ne sont plus."""
    selection = {one["slug"]: one for one in get("/data/v1/embeddings")["data"]}
    known, changed = dict(db.execute("SELECT slug, hash FROM documents")), {}
    for slug, hash, record in db.execute("SELECT slug, hash, record FROM records WHERE kind = 'outil'").fetchall():
        record = json.loads(record)
        if slug in selection:
            hash = selection[slug]["hash"] + selection[slug]["metadata_hash"]
        elif "body" not in record:
            continue
        if known.pop(slug, None) != hash:
            changed[slug] = hash, record
    passages = read({slug: selection[slug]["hash"] for slug in changed if slug in selection})
    for slug, (hash, record) in changed.items():
        replace(db, slug, hash, passages[slug] if slug in selection else cut(record))
    for slug in known:
        replace(db, slug, "", [])
    db.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM chunks)")


db = sqlite3.connect("palmares-passages.db")
db.executescript(TABLES)
with db:  # tout, ou rien
    follow(db)
    refresh(db)

question = " ".join(sys.argv[1:]) or "Quel outil garde la trace de ses sources ?"
asked = embed(question)
found = []
for record, url, text, vector in db.execute(
    "SELECT record, url, text, vector FROM chunks JOIN records USING (slug) JOIN vectors ON vectors.hash = chunks.hash"
    " WHERE kind = 'outil'"
):
    found.append((sum(a * b for a, b in zip(asked, json.loads(vector))), url, text, json.loads(record)))
for _, url, text, tool in sorted(found, key=lambda one: (-one[0], one[1]))[:3]:
    print(f"{tool['name']}, {tool.get('score', '–')}/10 : {text[:200]}…")
    print(f"  À lire : {url}\n")
print(CREDIT)
