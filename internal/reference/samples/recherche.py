"""Une question, les passages des avis qui y répondent, et leur source."""
import hashlib
import json
import math
import os
import pathlib
import re
import sys
import urllib.error
import urllib.request

BASE = "https://palmares.example"
KEY = os.environ["PALMARES_KEY"]
CREDIT = "Source : Palmarès (https://palmares.example)"
STORE = pathlib.Path("palmares-vecteurs.json")


def get(path, etag=""):
    """Rend la réponse et son ETag ; None si elle n’a pas changé."""
    headers = {"Authorization": "Bearer " + KEY}
    if etag:
        headers["If-None-Match"] = etag
    request = urllib.request.Request(BASE + path, headers=headers)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response), response.headers["ETag"]
    except urllib.error.HTTPError as error:
        if error.code == 304:
            return None, etag
        problem = json.load(error)
        if problem["code"] == "not_in_embeddings_set":
            return None, ""
        sys.exit(problem["error"])


def embed(text):
    """À remplacer par votre modèle : ici, les trigrammes des mots, comptés."""
    vector = [0.0] * 512
    for word in re.findall(r"\w+", text.lower()):
        for i in range(len(word) - 2):
            digest = hashlib.md5(word[i : i + 3].encode()).digest()
            vector[int.from_bytes(digest[:2], "big") % 512] += 1
    length = math.hypot(*vector) or 1.0
    return [x / length for x in vector]


def refresh(slug, known):
    """Relit un outil, et ne vectorise que si son texte a changé."""
    document, etag = get("/api/embeddings/" + slug, known.get("etag", ""))
    if document is None:
        return known
    texts = [chunk["text"] for chunk in document["chunks"]]
    digest = hashlib.sha256("\n\n".join(texts).encode()).hexdigest()
    if document["hash"] != "sha256-" + digest:
        sys.exit(slug + " : l’empreinte ne correspond pas aux textes reçus")
    if known.get("hash") == document["hash"]:
        return {**known, "etag": etag}
    for chunk in document["chunks"]:
        chunk["vector"] = embed(chunk["text"])
    return {"etag": etag, "hash": document["hash"], "chunks": document["chunks"]}


store = json.loads(STORE.read_text()) if STORE.exists() else {}
tools, _ = get("/api/v1/tools?score_min=8&limit=20")
for tool in tools["data"]:
    store[tool["slug"]] = refresh(tool["slug"], store.get(tool["slug"], {}))
STORE.write_text(json.dumps(store))

question = " ".join(sys.argv[1:]) or "Quel outil garde la trace de ses sources ?"
asked = embed(question)
chunks = [chunk for known in store.values() for chunk in known.get("chunks", [])]
chunks.sort(key=lambda chunk: -sum(a * b for a, b in zip(asked, chunk["vector"])))
for chunk in chunks[:3]:
    about = chunk["metadata"]
    print(f"{about['tool']}, {about['score']}/10 : {chunk['text'][:200]}…")
    print(f"  À lire : {about['canonical_url']}\n")
print(CREDIT)
