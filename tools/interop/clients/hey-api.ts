// Calls a server with the clients that @hey-api/openapi-ts made, which check every answer
// with zod. Their address is that of the documents' servers.
import assert from "node:assert/strict";
import { client as api } from "./api/client.gen.js";
import * as tools from "./api/sdk.gen.js";
import { client as data } from "./data/client.gen.js";
import * as records from "./data/sdk.gen.js";
import { client as webhooks } from "./webhooks/client.gen.js";
import * as hooks from "./webhooks/sdk.gen.js";

const auth = process.env.PALMARES_KEY!;
for (const client of [api, data, webhooks]) {
  assert.equal(client.getConfig().baseUrl, process.env.PALMARES_URL);
  client.setConfig({ auth, throwOnError: true });
}

const list = await tools.listTools<true>({ query: { page: 1, limit: 3 } });
const best = list.data.data[0]!;
assert.equal(JSON.parse(JSON.stringify(list.data)).meta.page, 1); // which refuses BigInt
const tool = await tools.getTool<true>({ path: { slug: best.slug } });
assert.deepEqual(tool.data, best);
await assert.rejects(tools.getTool<true>({ path: { slug: "inconnu" } }), { code: "tool_not_found" });

const changes = await records.listChanges<true>({ query: { kind: "outil", limit: 10 } });
assert.equal(JSON.parse(JSON.stringify(changes.data)).meta.next, changes.data.meta.next);
const set = await records.listEmbeddings<true>();
const chunks = await tools.getEmbeddings<true>({ path: { slug: set.data.data[0]!.slug } });
assert.equal(chunks.data.chunks.length, set.data.data[0]!.chunk_count);

const created = await hooks.createEndpoint<true>({ body: { url: "https://crochets.example/palmares", events: ["tool.created"] } });
await hooks.deleteEndpoint<true>({ path: { id: created.data.id } });
const events = await hooks.listEvents<true>({ query: { limit: 200 } });
const taglines = events.data.data.flatMap((event) => (event.type === "tool.created" && event.data.object ? [event.data.object.tagline] : []));
assert.ok(taglines.length > 0);
console.log(`@hey-api/openapi-ts: ${list.data.meta.total} tools, ${changes.data.data.length} changes, ${taglines.length} new tools in ${events.data.data.length} events`);
