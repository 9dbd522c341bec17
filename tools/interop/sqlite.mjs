// Reads the SQLite file of the export with the SQLite of Node.js.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(`${process.env.PALMARES_WORK}/palmares.sqlite`, { readOnly: true });
const { version } = db.prepare("SELECT sqlite_version() AS version").get();
const tools = db.prepare("SELECT slug, score, record FROM outils").all();
assert(tools.length > 0);
for (const { slug, score, record } of tools) {
  const parsed = JSON.parse(record);
  assert.equal(parsed.slug, slug);
  assert.equal(parsed.score ?? null, score);
  assert.equal(JSON.stringify(parsed), record);
}
const hit = db.prepare("SELECT kind, slug, snippet(search, 4, '[', ']', '…', 8) AS text FROM search WHERE search MATCH 'body : editeur' ORDER BY rank LIMIT 1").get();
assert.match(hit.text, /\[/);
console.log(`node:sqlite, SQLite ${version}: ${tools.length} tools; ${hit.slug}: ${hit.text}`);
