"""Keeps an exact copy of a Palmarès catalogue in an SQLite file.

    python3 copy.py https://palmares.example copy.db

Run it as often as you like: it asks for what has changed since the last time, stores
that in one transaction, and proves that the copy is that of the server. With an API key
in PALMARES_KEY it also keeps the chunks of the reviews, for embeddings, and asking when
nothing has changed is free.
"""

import gzip
import hashlib
import json
import os
import sqlite3
import sys
import time
import urllib.error
import urllib.request

TABLES = """
CREATE TABLE IF NOT EXISTS records (kind TEXT, slug TEXT, hash TEXT, record TEXT, PRIMARY KEY (kind, slug));
CREATE TABLE IF NOT EXISTS chunks (uid TEXT PRIMARY KEY, slug TEXT, hash TEXT, chunk TEXT);
CREATE TABLE IF NOT EXISTS position (name TEXT PRIMARY KEY, value TEXT);
"""


def main(server, path):
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript(TABLES)
    known = dict(db.execute("SELECT name, value FROM position"))
    db.execute("BEGIN")
    try:
        meta, changed = follow(server, db, known)
    except urllib.error.HTTPError as error:
        if error.code != 409:
            raise
        meta = None
    if meta is None or state(db) != meta["state"]:  # the database of the server was replaced or restored
        db.execute("DELETE FROM records")
        meta, changed = follow(server, db, {})
        if state(db) != meta["state"]:
            sys.exit("the copy is not that of the server; nothing was stored")
    store(db, feed=meta["feed"], next=meta["next"], state=meta["state"], tag=meta["tag"])
    if "PALMARES_KEY" in os.environ and known.get("chunks") != meta["state"]:
        db.execute("BEGIN")
        read_chunks(server, db)
        store(db, chunks=meta["state"])
    print(f"{changed} changes; state {meta['state']}")


def store(db, **position):
    db.executemany("INSERT OR REPLACE INTO position VALUES (?, ?)", position.items())
    db.execute("COMMIT")


def follow(server, db, known):
    """Applies what changed since the last time. Returns the last meta and how many changes there were."""
    after, feed, changed = known.get("next", 0), known.get("feed", ""), 0
    while True:
        query = f"?after={after}" + (f"&feed={feed}" if feed else "")
        text, tag = get(server + "/data/v1/changes" + query, known.get("tag", ""))
        if text is None:
            return known, 0
        page = json.loads(text, parse_float=Number)
        for change in page["data"]:
            if change["deleted"]:
                db.execute("DELETE FROM records WHERE kind = ? AND slug = ?", (change["kind"], change["slug"]))
                continue
            # Parsed and written again in the same order, a record has the same bytes.
            record = write(change["record"])
            if digest(record.encode()) != change["hash"]:
                sys.exit(f"{change['kind']} {change['slug']} has another hash than announced; nothing was stored")
            db.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)", (change["kind"], change["slug"], change["hash"], record))
        meta, changed = page["meta"], changed + len(page["data"])
        if not meta["more"]:
            return meta | {"tag": tag}, changed
        after, feed = meta["next"], meta["feed"]


class Number(str):
    """A number as it is written: Python would write 0.00002 in another way."""


def write(value):
    if isinstance(value, Number):
        return value
    if isinstance(value, dict):
        return "{" + ",".join(write(name) + ":" + write(member) for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def state(db):
    lines = sorted(f"{kind}\0{slug}\0{hash}\n".encode() for kind, slug, hash in db.execute("SELECT kind, slug, hash FROM records"))
    return digest(b"".join(lines))


def read_chunks(server, db):
    text = gzip.decompress(get(server + "/data/v1/export/latest/chunks.ndjson.gz")[0])
    db.execute("DELETE FROM chunks")
    for line in text.splitlines():
        chunk = json.loads(line)
        db.execute("INSERT INTO chunks VALUES (?, ?, ?, ?)", (chunk["uid"], chunk["slug"], chunk["hash"], line.decode()))


def get(url, tag=""):
    """Returns the bytes of an answer and its ETag, or no bytes if the answer still has the given one."""
    headers = {"User-Agent": "copy.py"}
    if tag:
        headers["If-None-Match"] = tag
    if "PALMARES_KEY" in os.environ:
        headers["Authorization"] = "Bearer " + os.environ["PALMARES_KEY"]
    for attempt in range(10):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
                return answer.read(), answer.headers["ETag"]
        except urllib.error.HTTPError as error:
            if error.code == 304:
                return None, tag
            if error.code == 429:
                sys.exit("the quota of today is used up: " + json.load(error)["error"])
            if error.code != 503 or attempt == 9:
                raise
            time.sleep(int(error.headers.get("Retry-After", 5)))  # an export may take a minute to write


def digest(data):
    return "sha256-" + hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), sys.argv[2])
