import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import codegen from '../../codegen.ts';
import { sampleUnder } from '../support/doc-pages.ts';
import { startGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';
import { createRelayClient, type Masked } from './relay/client.ts';
import { type Artifacts, compileDocuments } from './relay/compile.ts';

const CONFIG = sampleUnder('docs/clients.md', 'Relay', 'json');

/** The documents of `relay/pools.ts`, compiled against the schema that a gateway serves. */
let artifacts: Artifacts;
beforeAll(async () => {
  const { app, close } = await startGateway();
  const answer = await fetch(new URL('/schema.graphql', await app.listen(0, '127.0.0.1')));
  artifacts = compileDocuments(await answer.text(), CONFIG);
  await close();
});
afterAll(() => artifacts.remove());

async function open(options?: TestGatewayOptions) {
  const gateway = await serveGatewayForTest(options);
  const warnings = [vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')];
  onTestFinished(() => {
    for (const spy of warnings) spy.mockRestore();
  });
  return {
    ...gateway,
    client: createRelayClient(gateway.url),
    height: gateway.sandbox.chain.tip.height,
    pool: await artifacts.read('pools_pool'),
    warnings: () => warnings.flatMap(({ mock }) => mock.calls.map(String)),
  };
}

const BTC_POOL = `PoolPair:${PRV}-${BTC}`;
const idsOf = (connection: Masked): readonly string[] => connection.edges.map(({ node }: Masked) => node.id);
const never = (error: Error) => expect.unreachable(error.message);

test('the compiler gets the types of all scalars from the page', () => {
  const generated = codegen.generates['test/support/generated/documents.ts'];
  const config = generated !== undefined && 'config' in generated ? generated.config : undefined;
  expect({ ID: 'string', ...JSON.parse(CONFIG).customScalarTypes }).toEqual(config?.['scalars']);
});

describe('a fragment', () => {
  async function openPast() {
    const gateway = await open();
    const { client, height } = gateway;
    const variables = { token1Id: BTC, token2Id: PRV, at: height - 5 };
    const data = await client.load(await artifacts.read('poolsPastQuery'), variables);
    return { ...gateway, past: data.past, now: data.now };
  }

  test('reads a pool at the newest height and at an earlier one, which are two objects', async () => {
    const { client, pool, height, past, now, ask } = await openPast();
    expect([Object.keys(past), Object.keys(now)].flat()).not.toContain('price');
    const query = `query ($at: BeaconHeight) { poolPair(token1Id: "${BTC}", token2Id: "${PRV}", at: $at) { id beaconHeight price } }`;
    const { data: answer } = await ask(query);
    const { data: earlier } = await ask(query, { at: height - 5 });
    expect(client.read(pool, now)).toEqual(answer.poolPair);
    expect(client.read(pool, past)).toEqual(earlier.poolPair);
    expect([now.id, past.id]).toEqual([BTC_POOL, `${BTC_POOL}@${height - 5}`]);
  });

  test('is refetched by its id through `node`', async () => {
    const { client, pool, height, past, now, advance } = await openPast();
    const before = client.read(pool, past);
    await advance(2);
    await client.refetch(pool, now);
    await client.refetch(pool, past);
    expect(client.read(pool, now)).toMatchObject({ id: BTC_POOL, beaconHeight: height + 2 });
    expect(client.read(pool, past)).toEqual(before);
  });

  test('shows each update of a subscription, and a pool at an earlier height stays as it was', async () => {
    const { client, pool, height, past, now, advance, warnings } = await openPast();
    const before = client.read(pool, past);
    client.subscribe(await artifacts.read('poolsPricesSubscription'), {}, never);
    for (const expected of [height + 1, height + 2]) {
      const shown = client.untilShown(pool, now, ({ beaconHeight }) => beaconHeight === expected);
      await advance();
      expect(await shown).toMatchObject({ id: BTC_POOL });
    }
    expect(client.read(pool, past)).toEqual(before);
    expect(warnings()).toEqual([]);
  });
});

describe('a connection', () => {
  test('gets its next and previous pages', async () => {
    const { url, ask, warnings } = await open();
    const query = await artifacts.read('poolsListQuery');
    const list = await artifacts.read('pools_list');
    const { data } = await ask('{ poolPairs(first: 500, orderBy: NATIVE_LIQUIDITY_DESC) { edges { node { id } } } }');
    const ids = idsOf(data.poolPairs);

    const forward = createRelayClient(url);
    const start = await forward.load(query, { first: 2 });
    expect(idsOf(forward.read(list, start).poolPairs)).toEqual(ids.slice(0, 2));
    await forward.loadPage(list, start, 'forward', 4);
    expect(idsOf(forward.read(list, start).poolPairs)).toEqual(ids.slice(0, 6));

    const backward = createRelayClient(url);
    const end = await backward.load(query, { last: 2 });
    expect(idsOf(backward.read(list, end).poolPairs)).toEqual(ids.slice(-2));
    await backward.loadPage(list, end, 'backward', 4);
    expect(idsOf(backward.read(list, end).poolPairs)).toEqual(ids.slice(-6));
    expect(warnings()).toEqual([]);
  });

  test('has pools of one height on all pages, with `current` at the newest height', async () => {
    const { client, pool, height, advance, warnings } = await open();
    const list = await artifacts.read('pools_list');
    const data = await client.load(await artifacts.read('poolsListQuery'), { first: 2 });
    await advance(3);
    await client.loadPage(list, data, 'forward', 2);
    const nodes = client.read(list, data).poolPairs.edges.map(({ node }: Masked) => node);
    const heightsOf = (each: 'node' | 'current') =>
      nodes.map((node: Masked) => client.read(pool, each === 'node' ? node : node.current).beaconHeight);
    expect(idsOf(client.read(list, data).poolPairs).map((id) => id.split('@')[1])).toEqual([
      undefined,
      undefined,
      String(height),
      String(height),
    ]);
    expect(heightsOf('current')).toEqual([height, height, height + 3, height + 3]);

    client.subscribe(await artifacts.read('poolsPricesSubscription'), { onlyChanged: false }, never);
    const shown = client.untilShown(pool, nodes[3].current, ({ beaconHeight }) => beaconHeight === height + 4);
    await advance();
    await shown;
    expect(heightsOf('current')).toEqual(Array(4).fill(height + 4));
    expect(heightsOf('node')).toEqual([height + 4, height + 4, height, height]);
    expect(warnings()).toEqual([]);
  });

  test('of an object with an id gets its next page through `node`', async () => {
    const { client, ask, warnings } = await open();
    const ofToken = await artifacts.read('pools_ofToken');
    const { data } = await ask(`{ token(id: "${PRV}") { poolPairs(first: 8) { edges { node { id } } } } }`);
    const { token } = await client.load(await artifacts.read('poolsOfTokenQuery'), { id: PRV });
    await client.loadPage(ofToken, token, 'forward', 3);
    expect(idsOf(client.read(ofToken, token).poolPairs)).toEqual(idsOf(data.token.poolPairs));
    expect(warnings()).toEqual([]);
  });
});

describe('an error', () => {
  test('of a field is read with `@catch`, and the other fields are complete', async () => {
    const { client } = await open({ before: ({ marketData }) => marketData.stop() });
    const data = await client.load(await artifacts.read('poolsTickerQuery'), { tickerId: 'pBTC_PRV' });
    expect(data).toEqual({
      ticker: { ok: false, errors: [{ extensions: { code: 'UPSTREAM_UNREACHABLE', upstream: 'MARKET_DATA' } }] },
      poolPairs: { edges: [{ node: { id: expect.stringMatching(/^PoolPair:/) } }] },
    });
  });

  test('of an update without data ends the subscription', async () => {
    const { client } = await open({ before: ({ node }) => node.stop() });
    const subscription = await artifacts.read('poolsPricesSubscription');
    const error = await new Promise<Masked>((resolve) => client.subscribe(subscription, {}, resolve));
    expect(error.source.errors[0].extensions).toEqual({ code: 'UPSTREAM_UNREACHABLE', upstream: 'NODE' });
  });
});

test('an object of every type is stored without a warning', async () => {
  const { client, warnings, untilReady } = await open();
  await untilReady();
  const query = await artifacts.read('poolsEverythingQuery');
  const data = await client.load(query, { tickerId: 'pBTC_PRV', tokenId: PRV });
  expect(Object.values(data)).not.toContain(null);
  expect(warnings()).toEqual([]);
});
