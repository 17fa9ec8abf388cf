// Tailcall, a GraphQL server in Rust: as in its documentation, in front of an upstream whose responses it caches.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reportReady } from '../process-control.ts';
import { resolvers } from './data.ts';

/** The part of the gateway's schema that the bench requests. */
const TYPES = `
type Page { nodes: [PoolPair!]! }
type Token { tokenId: String! symbol: String decimals: Int }
type PoolPair { id: ID! token1: Token! token2: Token! token1PoolValue: String! token2PoolValue: String! }`;

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function findFreePort(): Promise<number> {
  const server = createTcpServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const upstream = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
  const after = searchParams.get('after') || null;
  response.setHeader('content-type', 'application/json');
  response.setHeader('cache-control', 'max-age=86400');
  response.end(
    JSON.stringify(resolvers.Query.poolPairs(undefined, { first: Number(searchParams.get('first')), after })),
  );
});
const [upstreamPort, port] = [await listen(upstream), await findFreePort()];

const config = join(dirname(process.argv[2] ?? ''), 'tailcall.graphql');
const query = ['first', 'after'].map((name) => `{ key: "${name}", value: "{{.args.${name}}}" }`).join(', ');
writeFileSync(
  config,
  `schema @server(port: ${port}, hostname: "127.0.0.1") @upstream(httpCache: 1000) { query: Query }
type Query {
  poolPairs(first: Int, after: String): Page! @http(url: "http://127.0.0.1:${upstreamPort}/", query: [${query}])
}${TYPES}`,
);

const binary = createRequire(import.meta.url).resolve('@tailcallhq/core-linux-x64-gnu/bin/tailcall');
// It ends with this process, however that ends.
const child = spawn('setpriv', ['--pdeathsig', 'KILL', binary, 'start', config], {
  env: { ...process.env, TC_LOG_LEVEL: 'error', TC_TRACKER: 'false' },
  stdio: ['ignore', 'ignore', 'inherit'],
});
child.once('error', () => process.exit(1));
child.once('exit', () => process.exit(1));

const url = `http://127.0.0.1:${port}/graphql`;
const isReady = () => fetch(url, { method: 'POST', body: '{"query":"{ __typename }"}' }).then(Boolean, () => false);
while (!(await isReady())) await sleep(50);
reportReady(url);
