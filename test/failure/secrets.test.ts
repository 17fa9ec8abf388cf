import { expect, test } from 'vitest';
import type { HttpFault } from '../../src/sandbox/faults.ts';
import { startGatewayForTest } from '../support/gateway.ts';

const PASSWORD = 'p@ss:w/rd&"2"';
const KEY_OF_PATH = '0123456789abcdef';
const KEY_OF_QUERY = 'caf\u00e9 key & more';
const TOKEN = `eyJ${Buffer.from('a long token'.repeat(100)).toString('base64url')}`;

/** Each secret, in each form in which the gateway sends it, or a host repeats it. */
const SECRETS = ['some0ne', PASSWORD, KEY_OF_PATH, KEY_OF_QUERY, TOKEN].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams([['', secret]]).toString().slice(1),
]);
const CREDENTIALS = ['NODE', 'MARKET'].map((name) => Buffer.from(`some0ne${name}:${PASSWORD}`).toString('base64'));
const BEGINNING_OF_TOKEN = TOKEN.slice(0, 20);

function withSecrets(url: string, name: string): URL {
  const secret = new URL(`${url}/rpc/${KEY_OF_PATH}/?apikey=${encodeURIComponent(KEY_OF_QUERY)}`);
  secret.username = `some0ne${name}`;
  secret.password = PASSWORD;
  return secret;
}

function expectNoSecret(text: string): void {
  for (const secret of [...SECRETS, ...CREDENTIALS, BEGINNING_OF_TOKEN]) {
    for (const written of [secret, JSON.stringify(secret).slice(1, -1), secret.toUpperCase()]) {
      expect(text).not.toContain(written);
      expect(text).not.toContain(JSON.stringify(written).slice(1, -1));
    }
  }
}

test.each<[HttpFault, code: string]>([
  [{ kind: 'echo' }, 'UPSTREAM_BAD_STATUS'],
  [{ kind: 'echo', as: 'text', status: 403 }, 'UPSTREAM_BAD_STATUS'],
  [{ kind: 'echo', as: 'json', status: 200 }, 'UPSTREAM_BAD_SHAPE'],
  [{ kind: 'echo', as: 'text', status: 200 }, 'UPSTREAM_BAD_SHAPE'],
  [{ kind: 'redirect', to: `https://some0ne:x@elsewhere.example/${KEY_OF_PATH}?${TOKEN}` }, 'UPSTREAM_BAD_STATUS'],
])('a host that repeats what it was sent: %j', async (fault, code) => {
  const { app, ask, lines, sandbox } = await startGatewayForTest({
    sandbox: { nodes: 2 },
    config: { fullnodeHeaders: { 'x-api-key': TOKEN }, marketDataHeaders: { cookie: `a=${TOKEN}` } },
    configOf: ({ nodes, marketDataUrl }) => ({
      fullnodeUrl: nodes.map(({ url }) => withSecrets(url, 'NODE')),
      marketDataUrl: withSecrets(marketDataUrl, 'MARKET'),
    }),
    before({ nodes, marketData }) {
      for (const host of [...nodes, marketData]) host.faults.set(fault);
    },
  });
  const { origin } = new URL(await app.listen(0, '127.0.0.1'));
  const answer = await ask(`{
    beaconHeight poolPairs(at: ${sandbox.chain.tip.height - 5}, first: 1) { totalCount }
    pairs { id } tickers { tickerId } orderBook(tickerId: "pBTC_PRV") { tickerId } service { upstreams { lastErrorCode } }
  }`);
  await expect.poll(() => lines.filter((line) => line['code'] === code).length).toBeGreaterThanOrEqual(4);
  const [ready, metrics] = await Promise.all(
    ['/ready', '/metrics'].map(async (path) => (await fetch(origin + path)).text()),
  );

  const { username } = withSecrets(sandbox.nodeUrl, 'NODE');
  expect(sandbox.node.requests[0]?.path).toContain(KEY_OF_PATH);
  expect([sandbox.node.requests[0]?.headers['x-api-key'], username]).toEqual([TOKEN, 'some0neNODE']);
  const log = lines.map((line) => JSON.stringify(line)).join('\n');
  if (fault.kind === 'echo') expect(log).toContain('[redacted]');
  for (const text of [JSON.stringify(answer), log, ready, metrics]) expectNoSecret(text ?? '');
});

test('the log of a bad status says which path was called, without what of it is secret', async () => {
  const { lines } = await startGatewayForTest({
    configOf: ({ marketDataUrl }) => ({ marketDataUrl: new URL(`${marketDataUrl}/${KEY_OF_PATH}/v2?key=${TOKEN}`) }),
    before: ({ marketData }) => void marketData.faults.set({ kind: 'status', status: 404, body: 'no such page' }),
  });
  await expect.poll(() => lines.length).toBe(1);
  expect(lines[0]).toMatchObject({
    error: 'The market-data host responded with HTTP status 404.',
    path: expect.stringMatching(/^\/\[redacted\]\/v2\/api\/v1\/public\/market-data\/(pairs|tickers)$/),
    body: 'no such page',
  });
});

test('an error that the node reports is redacted before it is shortened', async () => {
  const { lines, ask, sandbox } = await startGatewayForTest({
    config: { fullnodeHeaders: { 'x-api-key': TOKEN } },
    before: ({ node }) => {
      const error = { Code: -1, Message: `no key ${'.'.repeat(150)} ${TOKEN}`, StackTrace: `no ${TOKEN}\n/node` };
      node.faults.set({ kind: 'shape', path: ['Error'], value: error });
    },
  });
  await expect.poll(() => lines.length).toBe(1);
  expect(lines[0]).toMatchObject({ code: 'UPSTREAM_RPC_ERROR', because: 'no [redacted]' });
  expect(lines[0]?.['message']).toBe(`no key ${'.'.repeat(150)} [redacted]`);
  expectNoSecret(JSON.stringify([lines, await ask('{ beaconHeight }')]));
  expect(sandbox.node.requests[0]?.headers['x-api-key']).toBe(TOKEN);
});
