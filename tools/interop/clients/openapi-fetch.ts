// Calls a server with openapi-fetch and the types that openapi-typescript made.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths as API } from "./api.js";
import type { paths as Data } from "./data.js";
import type { components, paths as Webhooks } from "./webhooks.js";

const baseUrl = process.env.PALMARES_URL!;
const headers = { Authorization: `Bearer ${process.env.PALMARES_KEY}` };
const api = createClient<API>({ baseUrl, headers });
const data = createClient<Data>({ baseUrl, headers });
const webhooks = createClient<Webhooks>({ baseUrl, headers });

const tools = await api.GET("/api/v1/tools", { params: { query: { page: 1, limit: 3, sort: "score_desc" } } });
assert.ok(tools.data, tools.error?.error);
const best = tools.data.data[0]!;
const tool = await api.GET("/api/v1/tools/{slug}", { params: { path: { slug: best.slug } } });
assert.deepEqual(tool.data, best);
const unknown = await api.GET("/api/v1/tools/{slug}", { params: { path: { slug: "inconnu" } } });
assert.equal(unknown.error?.code, "tool_not_found");

const changes = await data.GET("/data/v1/changes", { params: { query: { kind: "outil", limit: 10 } } });
assert.ok(changes.data, changes.error?.error);
assert.equal(typeof changes.data.meta.next, "number");

// title reads an event: its type tells which object it has.
function title(event: components["schemas"]["Event"]): string | undefined {
  switch (event.type) {
    case "tool.created":
      return event.data.object?.tagline;
    case "comparatif.published":
      return event.data.object?.title;
    case "tool.retired":
      return event.data.object?.note;
    default:
      return undefined;
  }
}
const events = await webhooks.GET("/webhooks/v1/events", { params: { query: { limit: 200 } } });
assert.ok(events.data, events.error?.error);
const titles = events.data.data.map(title).filter((t) => t !== undefined);
assert.ok(titles.length > 0);
console.log(`openapi-typescript: ${tools.data.meta.total} tools, ${changes.data.data.length} changes, ${titles.length} of ${events.data.data.length} events have a title`);
