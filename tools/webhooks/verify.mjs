// Verifies with the official library. Each line of standard input is a JSON object
// with secret, headers and body; each line of the output is "ok" or the library's
// reason for refusing.
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body } = JSON.parse(line);
  let answer = "ok";
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
  } catch (error) {
    answer = error.message;
  }
  process.stdout.write(answer + "\n");
}
