// Other people's clients use the tools of /mcp, over HTTP and over standard input and
// output, and the conformance suite of the protocol tries the scenarios that need no
// fixtures.
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client as NewClient, StreamableHTTPClientTransport as NewHTTP } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const server = process.env.PALMARES_URL;
const url = new URL(server + '/mcp');
const palmares = fileURLToPath(new URL('../../bin/palmares', import.meta.url));
const bin = (name) => fileURLToPath(new URL('node_modules/.bin/' + name, import.meta.url));

for (const [name, client, transport] of [
  ['@modelcontextprotocol/client over HTTP', NewClient, new NewHTTP(url)],
  ['@modelcontextprotocol/sdk over HTTP', Client, new StreamableHTTPClientTransport(url)],
  ['@modelcontextprotocol/sdk over stdio', Client, new StdioClientTransport({ command: palmares, args: ['mcp', '--server', server] })],
]) {
  const c = new client({ name: 'interop', version: '1' });
  await c.connect(transport);
  const { tools } = await c.listTools();
  const { structuredContent } = await c.callTool({ name: 'search', arguments: { query: 'transcrire une réunion' } });
  const [first] = structuredContent.results;
  const read = await c.callTool({ name: 'fetch', arguments: { id: first.id } });
  const wrong = await c.callTool({ name: 'fetch', arguments: { id: 'rien-de-tel' } });
  if (tools.length !== 5 || read.isError || read.structuredContent.id !== first.id || !wrong.isError) {
    throw new Error(`${name}: ${JSON.stringify({ tools, first, read, wrong })}`);
  }
  await c.close();
  console.log(`${name}: ${tools.length} tools, ${first.id}`);
}

const inspected = JSON.parse(execFileSync(process.execPath, [bin('mcp-inspector'), '--cli', url.href, '--transport', 'http', '--method', 'tools/list'], { encoding: 'utf8' }));
if (inspected.tools.length !== 5) throw new Error(`inspector: ${JSON.stringify(inspected)}`);
console.log(`@modelcontextprotocol/inspector: ${inspected.tools.length} tools`);

const scenarios = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'caching', 'http-header-validation'];
for (const scenario of scenarios) {
  const { status, stdout } = spawnSync(process.execPath, [bin('conformance'), 'server', '--url', url.href, '--scenario', scenario], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`conformance, ${scenario}: ${stdout}`);
  console.log(`conformance, ${scenario}: ${/Passed: .*/.exec(stdout)[0]}`);
}
process.exit(0);
