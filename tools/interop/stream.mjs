// Follows the feed of changes with the package eventsource while something is published.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, readFileSync } from "node:fs";
import { EventSource } from "eventsource";

const { PALMARES_URL: url, PALMARES_WORK: work } = process.env;
const { feed, position, version } = JSON.parse(readFileSync(`${work}/manifest.json`));
const source = new EventSource(`${url}/data/v1/changes?after=${position}&feed=${feed}`);
const late = setTimeout(() => assert.fail("no event within a minute"), 60_000);
const changes = [];
const state = new Promise((resolve, reject) => {
  source.addEventListener("change", (event) => changes.push({ id: event.lastEventId, ...JSON.parse(event.data) }));
  source.addEventListener("state", (event) => {
    const meta = JSON.parse(event.data);
    if (meta.version > version) resolve(meta);
  });
  source.addEventListener("error", (event) => reject(new Error(event.message ?? "the stream broke")));
});
await new Promise((resolve) => source.addEventListener("open", resolve));

cpSync("demo", `${work}/demo`, { recursive: true });
appendFileSync(`${work}/demo/pages/methode.md`, "\nUne phrase de plus.\n");
execFileSync("bin/palmares", ["publish", `${work}/demo`, "--force"]);
const meta = await state;
clearTimeout(late);
source.close();
assert.deepEqual(changes.map((c) => [c.id, c.position, c.kind, c.slug]), [[String(position + 1), position + 1, "page", "methode"]]);
assert.equal(meta.feed, feed);
console.log(`eventsource: page methode at position ${position + 1}, version ${meta.version}`);
