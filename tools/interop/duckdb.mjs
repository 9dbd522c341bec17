// Reads the files of the export with DuckDB. Its reader of SQLite files is an extension
// that DuckDB downloads; it is used where it is installed, and never downloaded here.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

const work = process.env.PALMARES_WORK;
const rows = Object.fromEntries(JSON.parse(readFileSync(`${work}/manifest.json`)).files.map((f) => [f.path.split("/").at(-1), f.rows]));
const db = await (await DuckDBInstance.create(":memory:", { autoinstall_known_extensions: "false" })).connect();
const all = async (sql) => (await db.runAndReadAll(sql)).getRowsJson();
const one = async (sql) => (await all(sql))[0][0];

for (const name of ["outils", "comparatifs", "cimetiere", "pages", "articles", "auteurs", "preuves", "chunks"]) {
  assert.equal(Number(await one(`SELECT count(*) FROM read_json('${work}/${name}.ndjson.zst', format = 'newline_delimited')`)), rows[`${name}.ndjson.zst`], name);
}
for (const name of ["outils", "prix"]) {
  assert.equal(Number(await one(`SELECT count(*) FROM read_csv('${work}/${name}.csv')`)), rows[`${name}.csv`], name);
}
assert.equal(await one(`SELECT typeof(score) FROM read_csv('${work}/outils.csv') LIMIT 1`), "DOUBLE");
const different = await one(`SELECT count(*) FROM read_csv('${work}/outils.csv') c FULL JOIN read_json('${work}/outils.ndjson.zst', format = 'newline_delimited') j USING (slug) WHERE c.name IS DISTINCT FROM j.name OR c.score IS DISTINCT FROM j.score`);
assert.equal(Number(different), 0);

let sqlite = "its extension for SQLite is not installed, so it did not read palmares.sqlite";
if (await one("SELECT installed FROM duckdb_extensions() WHERE extension_name = 'sqlite_scanner'")) {
  await db.run(`LOAD sqlite; ATTACH '${work}/palmares.sqlite' AS palmares (TYPE sqlite, READ_ONLY)`);
  assert.equal(Number(await one("SELECT count(*) FROM palmares.tools")), rows["outils.ndjson.zst"]);
  sqlite = "and palmares.sqlite";
}
console.log(`DuckDB ${await one("SELECT version()")}: read the NDJSON and CSV files; ${sqlite}`);
