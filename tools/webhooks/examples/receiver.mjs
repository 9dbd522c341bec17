import { createServer } from "node:http";
import { Webhook } from "standardwebhooks"; // npm install standardwebhooks

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_…
const limit = 1 << 20; // bytes; an event has about 20 kB
const seen = new Set(); // in production: a unique column of your database

const server = createServer(async (request, response) => {
  if (!(Number(request.headers["content-length"]) <= limit)) {
    response.writeHead(413, { connection: "close" }).end("too long\n");
    return;
  }
  const parts = [];
  try {
    for await (const part of request) parts.push(part);
  } catch {
    return; // aborted: there is nobody to answer
  }
  const body = Buffer.concat(parts); // the bytes as received, before any parsing
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    response.writeHead(400).end("bad signature\n");
    return;
  }
  const id = request.headers["webhook-id"];
  if (!seen.has(id)) {
    seen.add(id);
    console.log("received", event.type, id);
  }
  response.writeHead(204).end();
});

server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  console.log("listening on", server.address().port);
});
