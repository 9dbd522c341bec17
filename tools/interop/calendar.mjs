// Reads /calendrier.ics with ical.js, the parser of Thunderbird, and compares it with the records.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import ICAL from "ical.js";

const { PALMARES_URL: url, PALMARES_WORK: work } = process.env;
const name = String.raw`Ça, alors\n ; « 100 % » "d'outil": 🜁🜂🜃 ` + "é".repeat(30);

// publish adds a tool with odd characters, and returns the calendar once it has them.
async function publish(price) {
  cpSync("demo", `${work}/calendar`, { recursive: true });
  const announced = [
    { from: "2031-02-03", price, price_display: String.raw`${price}, soit ; \ ou "," à peu près` },
    { from: "2032-02-29", retire: "mort", successor: "clapotis" },
  ];
  const tool = { name, domain: "etrange.example", category: "video", pricing: "payant", price: "2 €/mois", tagline: "Un outil", announced };
  writeFileSync(`${work}/calendar/outils/etrange.md`, `---\n${JSON.stringify(tool)}\n---\n`);
  execFileSync("bin/palmares", ["publish", `${work}/calendar`, "--force", "--allow-removals"], { stdio: "pipe" });
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const response = await fetch(`${url}/calendrier.ics`);
    assert.equal(response.headers.get("content-type"), "text/calendar; charset=utf-8");
    const text = await response.text();
    if (text.replaceAll("\r\n ", "").includes(price.replace(" ", "\u00a0"))) return text;
  }
  assert.fail("the calendar does not have the announcement within a minute");
}

// read returns the events of a calendar, by identifier.
function read(text) {
  for (const line of text.split("\r\n")) assert(Buffer.byteLength(line) <= 75 && !line.includes("\n"), line);
  const calendar = new ICAL.Component(ICAL.parse(text));
  assert.equal(calendar.getFirstPropertyValue("version"), "2.0");
  const events = calendar.getAllSubcomponents("vevent").map((component) => new ICAL.Event(component));
  return new Map(events.map((event) => [event.uid, event]));
}

const text = await publish("13 €/mois");
assert(text.split("\r\n").some((line) => line.startsWith(" ")), "nothing is folded");
const events = read(text);
const { data } = await (await fetch(`${url}/data/v1/records/outil?slug=etrange,clapotis`)).json();
const announced = data.flatMap((record) => record.announced.map((a) => ({ ...a, record })));
assert.equal(announced.length, 3);
assert.equal(events.size, announced.length);
for (const { from, record, price_display, price, retire } of announced) {
  const id = [...events.keys()].find((uid) => uid.startsWith(`${record.slug}-${from}@`));
  const event = events.get(id);
  assert(event, `${record.slug} ${from} is not in ${[...events.keys()]}`);
  assert.deepEqual([event.startDate.isDate, event.startDate.toString(), event.duration.toString()], [true, from, "P1D"]);
  const plain = (s) => s.replaceAll(/[\u00a0\u202f]/g, " ");
  const what = retire ? `fin annoncée (mort), remplacé par Clapotis` : (price_display ?? price);
  assert.equal(plain(event.summary), plain(`${record.name} : ${what}`));
  assert.equal(event.component.getFirstPropertyValue("url"), record.canonical_url);
  assert.equal(event.component.getFirstPropertyValue("dtstamp").toString(), `${record.updated_at}T00:00:00Z`);
}
const later = read(await publish("17 €/mois"));
assert.deepEqual([...later.keys()], [...events.keys()]); // identifiers stay when an announcement changes
console.log(`ical.js: ${events.size} events, the longest summary has ${Math.max(...[...events.values()].map((e) => e.summary.length))} characters`);
