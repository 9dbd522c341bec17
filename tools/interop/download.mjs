// Downloads the export with fetch, compares sizes and SHA-256, and decompresses the files
// with the zstd of Node.js.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { zstdDecompressSync } from "node:zlib";

const { PALMARES_URL: url, PALMARES_KEY: key, PALMARES_WORK: work } = process.env;
const manifest = await (await fetch(`${url}/data/v1/export`)).json();
writeFileSync(`${work}/manifest.json`, JSON.stringify(manifest));
for (const file of manifest.files) {
  const response = await fetch(url + file.path, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal(response.status, 200, file.path);
  const bytes = Buffer.from(await response.arrayBuffer());
  assert.equal(bytes.length, file.bytes, file.path);
  assert.equal(createHash("sha256").update(bytes).digest("hex"), file.sha256, file.path);
  const name = file.path.split("/").at(-1);
  writeFileSync(`${work}/${name}`, bytes);
  if (name.endsWith(".zst")) writeFileSync(`${work}/${name.slice(0, -4)}`, zstdDecompressSync(bytes));
}
console.log(`download: ${manifest.files.length} files of version ${manifest.version}`);
