// Other people's clients use the tools of /mcp, over HTTP, directly and through nginx, and
// over standard input and output. The conformance suite of the protocol tries the scenarios
// that need no fixtures on the same server (caching asks for prompts and resources, which it has
// not), and those that its 2026-07-28 revision requires on
// the same handler with the fixtures of the suite.
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client as NewClient, StreamableHTTPClientTransport as NewHTTP } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const server = process.env.PALMARES_URL;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const bin = (name) => here('node_modules/.bin/' + name);
const palmares = here('../../bin/palmares');

async function use(name, c, transport) {
  await c.connect(transport);
  const { tools } = await c.listTools();
  const call = async (tool, args) => (await c.callTool({ name: tool, arguments: args }));
  const found = await call('search', { query: 'transcrire une réunion', price_max: 20 });
  const [first, second] = found.structuredContent.results.map((hit) => hit.id.split('#')[0]);
  const answers = [
    found, await call('fetch', { id: first }), await call('compare', { tools: [first, second] }),
    await call('prices', { tools: [first] }), await call('changes', { since: '2020-01-01' }),
  ];
  const wrong = await call('fetch', { id: 'rien-de-tel' });
  const isSame = (a) => !a.isError && JSON.stringify(a.structuredContent) === a.content[0].text;
  if (tools.length !== 6 || !answers.every(isSame) || !wrong.isError || answers[1].structuredContent.id !== first) {
    throw new Error(`${name}: ${JSON.stringify({ tools, answers, wrong })}`);
  }
  await c.close();
  console.log(`${name}: ${tools.length} tools listed, ${answers.length} called, ${first} first`);
}

function inspect(url) {
  const run = (...args) => JSON.parse(execFileSync(process.execPath, [bin('mcp-inspector'), '--cli', url, '--transport', 'http', ...args], { encoding: 'utf8' }));
  const { tools } = run('--method', 'tools/list');
  const { structuredContent } = run('--method', 'tools/call', '--tool-name', 'fetch', '--tool-arg', 'id=calepin-bavard');
  if (tools.length !== 6 || structuredContent.id !== 'calepin-bavard') throw new Error(`inspector: ${JSON.stringify({ tools, structuredContent })}`);
  console.log(`@modelcontextprotocol/inspector: ${tools.length} tools listed, 1 called`);
}

function conform(url, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin('conformance'), 'server', '--url', url, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`conformance ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

for (const [way, address] of [['directly', server], ['through nginx', process.env.PALMARES_PROXY]]) {
  console.log(`/mcp over HTTP, ${way}:`);
  const url = new URL(address + '/mcp');
  const me = { name: 'interop', version: '1' };
  await use('@modelcontextprotocol/client', new NewClient(me), new NewHTTP(url));
  await use('@modelcontextprotocol/sdk', new Client(me), new StreamableHTTPClientTransport(url));
  inspect(url.href);
  for (const scenario of ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'http-header-validation']) {
    console.log(`conformance, ${scenario}: ${/Passed: .*/.exec(conform(url.href, '--scenario', scenario))[0]}`);
  }
}
console.log('/mcp over standard input and output:');
await use('@modelcontextprotocol/sdk', new Client({ name: 'interop', version: '1' }), new StdioClientTransport({ command: palmares, args: ['mcp', '--server', server] }));

for (const [way, url] of [['directly', process.env.FIXTURES_URL], ['through nginx', process.env.FIXTURES_PROXY + '/mcp']]) {
  const out = conform(url, '--requirements', '2026-07-28', '--expected-failures', here('conformance.yml'));
  console.log(`conformance with fixtures, ${way}:`);
  console.log(out.slice(out.indexOf('=== SUMMARY ===') + 15).trim());
}
process.exit(0);
