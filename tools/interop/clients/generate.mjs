// Generates TypeScript clients from the documents that a server serves: types with
// openapi-typescript (for openapi-fetch), and a client that checks answers with zod with
// @hey-api/openapi-ts.
import { createClient } from "@hey-api/openapi-ts";
import { writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const { PALMARES_URL: url, PALMARES_CLIENTS: work } = process.env;
for (const [name, path] of [["api", "/api"], ["data", "/data"], ["webhooks", "/webhooks"]]) {
  const input = `${url}${path}/v1/openapi.json`;
  writeFileSync(`${work}/${name}.d.ts`, astToString(await openapiTS(new URL(input))));
  await createClient({
    input,
    output: { path: `${work}/${name}`, module: { extension: ".js" } },
    logs: { level: "silent" },
    plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "zod", { name: "@hey-api/sdk", validator: true }],
  });
}
