// Validates every record of the export against the served schemas, with ajv.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import Ajv from "ajv";

const { PALMARES_URL: url, PALMARES_WORK: work } = process.env;
let records = 0;
for (const [kind, file] of Object.entries({ outil: "outils.ndjson", comparatif: "comparatifs.ndjson", cimetiere: "cimetiere.ndjson", page: "pages.ndjson", article: "articles.ndjson", author: "auteurs.ndjson", preuve: "preuves.ndjson", catalogue: "catalogue.json" })) {
  const schema = await (await fetch(`${url}/data/v1/schema/${kind}.json`)).json();
  const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(schema);
  for (const line of readFileSync(`${work}/${file}`, "utf8").trimEnd().split("\n")) {
    assert(validate(JSON.parse(line)), `${kind}: ${JSON.stringify(validate.errors)}\n${line}`);
    records++;
  }
}
console.log(`ajv: ${records} records are valid`);
