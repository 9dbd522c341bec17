"""Une question, les passages des avis qui y répondent, et leur source.

Chaque exécution met d’abord à jour une base locale : un outil retiré est oublié,
un outil renommé suivi, une note remplacée ; seul un texte nouveau est vectorisé.
"""
import hashlib
import json
import math
import os
import re
import sqlite3
import sys
import urllib.error
import urllib.request

BASE = "https://palmares.example"
KEY = os.environ["PALMARES_KEY"]
CREDIT = "Source : Palmarès (https://palmares.example)"
TABLES = """
CREATE TABLE IF NOT EXISTS position (feed TEXT, next INTEGER);
CREATE TABLE IF NOT EXISTS tools (slug TEXT PRIMARY KEY, hash TEXT, record TEXT);
CREATE TABLE IF NOT EXISTS documents (slug TEXT PRIMARY KEY, hash TEXT);
CREATE TABLE IF NOT EXISTS chunks (slug TEXT, position INTEGER, url TEXT, text TEXT, hash TEXT);
CREATE TABLE IF NOT EXISTS vectors (hash TEXT PRIMARY KEY, vector TEXT);
"""


def get(path, expected=0):
    """Rend la réponse ; None si elle a le statut attendu."""
    request = urllib.request.Request(BASE + path, headers={"Authorization": "Bearer " + KEY})
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        if error.code == expected:
            return None
        sys.exit(json.load(error)["error"])


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
    """Suit le flux des changements : la table tools devient celle du catalogue."""
    feed, after = db.execute("SELECT feed, next FROM position").fetchone() or ("", 0)
    more = True
    while more:
        page = get(f"/data/v1/changes?kind=outil&after={after}" + (f"&feed={feed}" if feed else ""), expected=409)
        if page is None:  # ce n’est plus la même base : tout relire
            db.execute("DELETE FROM tools")
            feed, after = "", 0
            continue
        for change in page["data"]:
            db.execute("DELETE FROM tools WHERE slug = ?", (change["slug"],))
            if not change["deleted"]:  # un nouveau nom a sa propre ligne dans le flux
                db.execute("INSERT INTO tools VALUES (?, ?, ?)", (change["slug"], change["hash"], json.dumps(change["record"])))
        feed, after, more = page["meta"]["feed"], page["meta"]["next"], page["meta"]["more"]
    db.execute("DELETE FROM position")
    db.execute("INSERT INTO position VALUES (?, ?)", (feed, after))


def read(slug):
    """Lit les segments d’un outil de la sélection, s’il n’en est pas sorti entre-temps."""
    document = get("/api/embeddings/" + slug, expected=404) or {"chunks": []}
    return [(chunk["metadata"]["canonical_url"], chunk["text"]) for chunk in document["chunks"]]


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
        digest = hashlib.sha256(text.encode()).hexdigest()
        db.execute("INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", (slug, position, url, text, digest))
        if not db.execute("SELECT 1 FROM vectors WHERE hash = ?", (digest,)).fetchone():
            db.execute("INSERT INTO vectors VALUES (?, ?)", (digest, json.dumps(embed(text))))


def refresh(db):
    """Relit les avis dont l’empreinte a changé, et oublie ceux qui ne sont plus."""
    selection = {one["slug"]: one["hash"] + one["metadata_hash"] for one in get("/data/v1/embeddings")["data"]}
    known = dict(db.execute("SELECT slug, hash FROM documents"))
    for slug, hash, record in db.execute("SELECT slug, hash, record FROM tools").fetchall():
        record = json.loads(record)
        if slug in selection:
            hash = selection[slug]
        elif "body" not in record:
            continue
        if known.pop(slug, None) != hash:
            replace(db, slug, hash, read(slug) if slug in selection else cut(record))
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
    "SELECT record, url, text, vector FROM chunks JOIN tools USING (slug) JOIN vectors ON vectors.hash = chunks.hash"
):
    found.append((sum(a * b for a, b in zip(asked, json.loads(vector))), url, text, json.loads(record)))
for _, url, text, tool in sorted(found, key=lambda one: (-one[0], one[1]))[:3]:
    print(f"{tool['name']}, {tool.get('score', '–')}/10 : {text[:200]}…")
    print(f"  À lire : {url}\n")
print(CREDIT)
