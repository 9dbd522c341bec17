"""Computes the figures of /carte and /tendances from the records of the export, by rules of
its own, and compares them with what the server says."""

import calendar
import datetime
import json
import math
import os
import statistics
import sys
import urllib.parse
import urllib.request
from fractions import Fraction

url, work = os.environ["PALMARES_URL"], os.environ["PALMARES_WORK"]


def get(path):
    with urllib.request.urlopen(url + path) as answer:
        return json.load(answer)


def records(kind):
    with open(f"{work}/{kind}.ndjson", encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


MONTHS = {"mois": Fraction(1), "trimestre": Fraction(3), "semestre": Fraction(6), "an": Fraction(12), "semaine": Fraction(12, 52)}


def whole(x):
    """Rounds half away from zero, as Go does; Python's round is half to even."""
    down = int(abs(x))
    up = down + (abs(x) - down >= 0.5)
    return up if x >= 0 else -up


def cents(euros):
    """Rounds to the cent, and what is less than one to two digits."""
    return float(f"{euros:.1e}") if 0 < euros < 0.01 else whole(100 * euros) / 100


def amount(price):
    """Splits a price into its amount and its unit; times that have a length are months."""
    if price is None:  # it is not public, but more than nothing
        return math.inf, None
    number, _, period = price.partition(" €/")
    for space in (" ", "\u00a0", "\u202f"):
        number = number.replace(space, "")
    euros = float(number.replace(",", "."))
    words = period.split("/")
    times = [w for w in words if w.lower() in MONTHS]
    if len(times) != 1:
        return euros, period.lower() + "/"
    words.remove(times[0])
    return float(Fraction(euros) / MONTHS[times[0].lower()]), "/".join(words + ["mois"])


def monthly(price, pricing=""):
    if price is None:  # it is not public
        return None
    euros, unit = amount(price)
    if euros == 0:
        return None if pricing == "payant" else 0.0
    return euros if unit.split("/")[-1] == "mois" else None


def check(what, got, want):
    if got != want:
        sys.exit(f"market.py: {what}: the server says {got!r}, the export {want!r}")


def beaten(tool, others):
    return any(
        o["score"] >= tool["score"] and o["month"] <= tool["month"] and (o["score"] > tool["score"] or o["month"] < tool["month"])
        for o in others
    )


def check_map(tools, category, pricing):
    query = urllib.parse.urlencode({k: v for k, v in (("category", category), ("pricing", pricing)) if v})
    said = get("/carte.json?" + query)
    chosen = [t for t in tools if category in ("", t["category"]) and pricing in ("", t["pricing"])]
    scored = [t for t in chosen if t.get("score") is not None]
    placed = [t for t in scored if t["month"] is not None]
    apart = [t for t in scored if t["month"] is None]
    what = f"/carte.json?{query}"
    check(what + " total", (said["total"], said["truncated"]), (len(chosen), False))
    placed.sort(key=lambda t: (-t["score"], t["month"], t["slug"]))
    check(
        what + " tools",
        [(t["slug"], t["score"], t["euros_per_month"], t["frontier"]) for t in said["tools"]],
        [(t["slug"], t["score"], cents(t["month"]), not beaten(t, placed)) for t in placed],
    )
    apart.sort(key=lambda t: (-t["score"], t["slug"]))
    check(what + " not_monthly", [t["slug"] for t in said["not_monthly"]], [t["slug"] for t in apart])
    check(what + " not_scored", {t["slug"] for t in said["not_scored"]}, {t["slug"] for t in chosen if t.get("score") is None})
    never = float("inf")
    best = min(scored, key=lambda t: (-t["score"], never if t["month"] is None else t["month"], t["slug"]), default=None)
    top = max((t["score"] for t in placed), default=0)
    # What is worth more than the best costs: never the best itself.
    price = min((t["month"] for t in placed if t["score"] == top), default=0)
    others = [t for t in placed if not beaten(t, placed) and (t["score"] < top or best["month"] is None)]
    near = [t for t in others if top - t["score"] <= 1 + 1e-9]
    half = [t for t in others if t["month"] <= price / 2]
    if near:
        value = min(near, key=lambda t: (t["month"], t["slug"]))
    else:
        value = min(half, key=lambda t: (-t["score"], t["slug"]), default=None)
    free = min((t for t in placed if t["month"] == 0), key=lambda t: (-t["score"], t["slug"]), default=None)
    for name, tool in (("best_score", best), ("best_value", value), ("best_free", free)):
        check(f"{what} {name}", said[name], tool and tool["slug"])
    return len(placed)


def price_on(tool, day):
    later = [c for c in tool.get("price_history", []) if c["changed_at"] > day]
    return later[-1]["old_price"] if later else tool["price"]


def knew_price(tool, since):
    """Says whether the price that a tool had on the first day is known."""
    days = [tool.get(k) for k in ("tested_at", "price_checked_at", "updated_at", "added_at")]
    return any(d and d <= since for d in days) or bool(tool.get("price_history")) and not tool.get("added_at")


def check_trends(tools, retired, shown=10):
    said = get("/tendances.json")
    until = said["until"]
    check("until", until, said["updated_at"])
    year, month, day = (int(x) for x in until.split("-"))
    if (month, day) == (2, 29):
        since = f"{year - 1}-03-01"
    else:
        since = f"{year - 1}-{month:02}-{day:02}"
    check("since", said["since"], since)

    moves = [(t, c) for t in tools for c in t.get("price_history", []) if since < c["changed_at"] <= until]
    up, down, paid, free, same, other, rises, falls = 0, 0, 0, 0, 0, 0, [], []
    months = {}
    for tool, c in moves:
        (before, old), (after, new) = amount(c["old_price"]), amount(c["new_price"])
        if before and after and (old != new or math.inf in (before, after)):
            other += 1
            continue
        tally = months.setdefault(c["changed_at"][:7], [0, 0])
        if after == before:
            same += 1
        elif after > before:
            up, tally[0] = up + 1, tally[0] + 1
            paid += before == 0
        else:
            down, tally[1] = down + 1, tally[1] + 1
            free += after == 0
        if before and after and before != after:
            share = after / before - 1
            entry = (share, c["changed_at"], tool["slug"])
            (rises if share > 0 else falls).append(entry)
    p = said["prices"]
    check("prices", [p[k] for k in ("changes", "up", "down", "became_paid", "became_free", "same_price", "other_unit")], [len(moves), up, down, paid, free, same, other])
    check("months", {m["month"]: [m["up"], m["down"]] for m in p["months"] if m["up"] or m["down"]}, {k: v for k, v in months.items() if v != [0, 0]})
    for name, entries, sign in (("largest_rises", rises, -1), ("largest_falls", falls, 1)):
        entries.sort(key=lambda e: e[2])
        entries.sort(key=lambda e: e[1], reverse=True)
        entries.sort(key=lambda e: sign * e[0])
        check(name, [(e["slug"], e["changed_at"], e["percent"]) for e in p[name]], [(s, d, whole(1000 * x) / 10) for x, d, s in entries[:shown]])

    days, (y, m) = [since], (int(x) for x in since.split("-")[:2])
    while (last := f"{y}-{m:02}-{calendar.monthrange(y, m)[1]:02}") < until:
        if last > since:
            days.append(last)
        y, m = (y, m + 1) if m < 12 else (y + 1, 1)
    days.append(until)
    lines = 0
    for median in said["medians"]:
        of = [t for t in tools if median["category"] in (None, t["category"])]
        known = [t for t in of if knew_price(t, since)]
        prices = {d: [x for x in (monthly(price_on(t, d)) for t in known) if x] for d in days}
        changes = sum(
            since < c["changed_at"] <= until and (monthly(c["old_price"], c["old_pricing"]) is not None or monthly(c["new_price"], c["new_pricing"]) is not None)
            and (monthly(c["old_price"], c["old_pricing"]) or 0) != (monthly(c["new_price"], c["new_pricing"]) or 0)
            for t in of for c in t.get("price_history", [])
        )
        now = [t["month"] for t in of if t["month"]]
        what = f"the median of {median['category']}"
        check(what, (median["tools"], median["euros_per_month"], median["changes"]), (len(now), cents(statistics.median(now)) if now else None, changes))
        want = None
        if changes >= 3 and min(len(x) for x in prices.values()) >= 5:
            want = [{"day": d, "tools": len(prices[d]), "euros_per_month": cents(statistics.median(prices[d]))} for d in days]
            lines += 1
        check(what + " over time", median["points"], want)
    check("categories with a median", {m["category"] for m in said["medians"]}, {None} | {t["category"] for t in tools} if tools else set())

    traces = {}
    for t in tools:
        days_of = [c["changed_at"] for c in t.get("price_history", []) + t.get("score_history", [])] + [t.get("tested_at")]
        traces[t["slug"]] = [d for d in days_of if d]
    new = sorted(((min(d), s) for s, d in traces.items() if d and since < min(d) <= until), key=lambda e: e[1])
    new.sort(key=lambda e: e[0], reverse=True)
    check("new tools", (said["new_tools"]["total"], said["new_tools"]["unclear"]), (len(new), 2 * sum(bool(d) and min(d) <= since for d in traces.values()) < len(tools)))
    check("new tools", [(n["since"], n["slug"]) for n in said["new_tools"]["tools"]], new[:shown])

    scores = [(t["slug"], c) for t in tools for c in t.get("score_history", []) if since < c["changed_at"] <= until and c["new_score"] is not None]
    first = sum(c["old_score"] is None for _, c in scores)
    scores = [(s, c) for s, c in scores if c["old_score"] not in (None, c["new_score"])]
    rose = sum(c["new_score"] > c["old_score"] for _, c in scores)
    x = said["scores"]
    check("scores", [x[k] for k in ("changes", "up", "down", "first")], [len(scores), rose, len(scores) - rose, first])
    scores.sort(key=lambda e: e[0])
    scores.sort(key=lambda e: e[1]["changed_at"], reverse=True)
    scores.sort(key=lambda e: -whole(100 * abs(e[1]["new_score"] - e[1]["old_score"])))
    check("the largest changes of scores", [(e["slug"], e["changed_at"]) for e in x["largest"]], [(s, c["changed_at"]) for s, c in scores[:shown]])

    gone = sorted((t for t in retired if since < t["retired_at"] <= until), key=lambda t: t["slug"])
    gone.sort(key=lambda t: t["retired_at"], reverse=True)
    reasons = {}
    for t in gone:
        reasons[t["reason"]] = reasons.get(t["reason"], 0) + 1
    check("retired", (said["retired"]["total"], said["retired"]["reasons"]), (len(gone), reasons))
    check("retired", [t["slug"] for t in said["retired"]["tools"]], [t["slug"] for t in gone[:shown]])
    return len(moves), lines


tools = records("outils")
for tool in tools:
    tool["month"] = monthly(tool["price"], tool["pricing"])
points, maps = 0, 0
for category in [""] + sorted({t["category"] for t in tools}) + ["inconnue"]:
    for pricing in ("", "gratuit", "freemium", "payant"):
        points, maps = points + check_map(tools, category, pricing), maps + 1
moves, lines = check_trends(tools, records("cimetiere"))
print(f"market.py: {maps} maps with {points} points, {moves} changes of prices and {lines} medians over time agree with the export of {datetime.date.fromisoformat(get('/tendances.json')['until'])}")
