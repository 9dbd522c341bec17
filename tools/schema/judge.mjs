// Reads {"schema": …, "values": [ … ]} from standard input and prints, as a JSON array,
// whether each value is valid.
import Ajv from "ajv";

process.stdin.setEncoding("utf8"); // otherwise a character that two chunks share is lost
let text = "";
for await (const chunk of process.stdin) text += chunk;
const { schema, values } = JSON.parse(text);
const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(schema);
console.log(JSON.stringify(values.map((value) => validate(value))));
