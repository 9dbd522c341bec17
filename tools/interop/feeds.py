#!/usr/bin/python3
"""Universal Feed Parser reads the feeds of everything, of a tool and of a set of tools."""

import os
import urllib.request

import feedparser

url = os.environ["PALMARES_URL"]


def read(path):
    with urllib.request.urlopen(url + path) as response:
        body, headers = response.read(), {name.lower(): value for name, value in response.headers.items()}
    feed = feedparser.parse(body, response_headers=headers)
    assert not feed.bozo, (path, feed.get("bozo_exception"))
    assert feed.version == "atom10" and feed.feed.title and feed.feed.updated_parsed, (path, feed.feed)
    ids = [entry.id for entry in feed.entries]
    assert ids and len(set(ids)) == len(ids), (path, ids)
    for entry in feed.entries:
        assert entry.title and entry.link and entry.updated_parsed, (path, entry)
    return feed


everything = read("/flux.atom")
tools = sorted({e.link.split("/outils/")[1] for e in everything.entries if "/outils/" in e.link})
for slug in tools[:5]:
    read(f"/outils/{slug}.atom")
chosen = read("/flux.atom?outils=" + ",".join(tools[:3]))
assert any("→" in e.title + e.get("summary", "") for e in chosen.entries + everything.entries), "no entry says what changed"
print(f"feedparser: {len(everything.entries)} entries, feeds of {len(tools[:5])} tools and of a set")
