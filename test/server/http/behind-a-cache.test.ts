import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sumOf } from '../../support/metrics.ts';
import { NGINX, startCache } from '../../support/nginx.ts';
import { serveGatewayForTest } from '../../support/served-gateway.ts';

/** The block interval, as the gateway measures it. */
const BLOCK_MS = 2_000;

/** One that does not pass between a few requests, on a busy machine either. */
const LONG_BLOCK_MS = 60_000;

async function open(blockMs = BLOCK_MS) {
  const gateway = await serveGatewayForTest({
    isSandbox: false,
    sandbox: { history: 20 },
    config: { marketPollMs: 60_000 },
  });
  const { clock, sandbox, app } = gateway;
  await gateway.untilReady();

  /** Creates a block and waits until it is served, without a request that would be counted. */
  async function advance(): Promise<void> {
    sandbox.advance();
    const served = () => app.service.sources.head.current()?.beaconHeight;
    await expect.poll(served).toBe(sandbox.chain.tip.height);
  }
  for (let n = 0; n < 3; n++) {
    clock.now += blockMs;
    await advance();
  }
  const cache = await startCache(gateway.url);

  async function get(query: string, accept = 'application/json') {
    const response = await fetch(`${cache}/graphql?${new URLSearchParams({ query })}`, { headers: { accept } });
    const header = (name: string) => response.headers.get(name);
    return {
      status: response.status,
      cache: header('x-cache'),
      cacheControl: header('cache-control'),
      type: header('content-type'),
      vary: header('vary'),
      /** The time at which it was sent, in whole seconds of the cache's clock. */
      sentAtMs: Date.parse(header('date') ?? ''),
      body: await response.json(),
    };
  }
  const answered = async (status: number) => {
    const text = await (await fetch(new URL('/metrics', gateway.url))).text();
    return sumOf(text, 'pdex_http_requests_total', { endpoint: 'graphql', status: String(status) });
  };
  return { ...gateway, advance, get, answered };
}

// Without nginx these tests are skipped. CI installs nginx, and fails if they are skipped.
test.runIf(process.env['CI'])('CI has nginx', () => expect(existsSync(NGINX)).toBe(true));

describe.skipIf(!existsSync(NGINX))('behind nginx as a cache', () => {
  test('while nothing changes, the gateway gets one request', async () => {
    const { get, answered } = await open(LONG_BLOCK_MS);
    const told = await Promise.all(Array.from({ length: 50 }, () => get('{ beaconHeight }')));
    expect(told[0]).toMatchObject({
      status: 200,
      cacheControl: 'max-age=60',
      vary: 'accept, x-pdex-cost, x-pdex-min-height',
    });
    expect(new Set(told.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(told.filter(({ cache }) => cache === 'HIT')).toHaveLength(49);
    expect(await answered(200)).toBe(1);
  });

  test('a new height is served before max-age of the previous one has passed', async () => {
    const { get, sandbox, advance, clock } = await open();
    const { height } = sandbox.chain.tip;
    const first = await get('{ beaconHeight }');
    expect(first).toMatchObject({ cache: 'MISS', cacheControl: 'max-age=2', body: { data: { beaconHeight: height } } });
    clock.now += 100;
    await advance();
    let told = first;
    let lastKept = first;
    await expect
      .poll(async () => {
        told = await get('{ beaconHeight }');
        if (told.cache === 'HIT') lastKept = told;
        return told.cache;
      })
      .not.toBe('HIT');
    expect(told.body).toEqual({ data: { beaconHeight: height + 1 } });
    expect(lastKept.sentAtMs - first.sentAtMs).toBeLessThanOrEqual(BLOCK_MS);
  });

  test('a response that has not changed is not sent again after its max-age', async () => {
    const { get, answered } = await open();
    const first = await get('{ beaconHeight }');
    await expect
      .poll(() => get('{ beaconHeight }'))
      .toMatchObject({ cache: 'REVALIDATED', body: first.body, cacheControl: 'max-age=2' });
    expect([await answered(200), await answered(304)]).toEqual([1, 1]);
    // Unless it has expired again before, on a busy machine.
    await expect.poll(async () => (await get('{ beaconHeight }')).cache).toBe('HIT');
  });

  test('a response about final heights stays cached', async () => {
    const { get, sandbox, advance, clock, answered } = await open();
    const query = `{ poolPairs(at: ${sandbox.chain.tip.height - 5}, first: 2) { totalCount nodes { id token1PoolValue } } }`;
    const first = await get(query);
    expect(first).toMatchObject({ cache: 'MISS', cacheControl: 'public, max-age=31536000, immutable' });
    clock.now += BLOCK_MS;
    await advance();
    const other = await get('{ beaconHeight }');
    // By then, every max-age has passed.
    await expect.poll(async () => (await get('{ beaconHeight }')).cache).toBe('REVALIDATED');
    expect(other.cacheControl).toBe('max-age=2');
    expect(await get(query)).toEqual({ ...first, cache: 'HIT', sentAtMs: expect.any(Number) });
    expect(await answered(200)).toBe(2);
  });

  test('what can differ each time is never cached, and introspection is revalidated: a release may change the schema', async () => {
    const { get } = await open();
    for (const query of [
      ...['{ beaconHeight poolPairs(first: -1) { totalCount } }', '{ nothing }', '{'],
      ...['{ service { version } }', '{ service { head { ageMs } } }', '{ orderBook(tickerId: "NONE") { tickerId } }'],
    ])
      for (let n = 0; n < 2; n++)
        expect([query, await get(query)]).toMatchObject([query, { cache: 'MISS', cacheControl: 'no-store' }]);
    expect(await get('{ __typename }')).toMatchObject({ cache: 'MISS', cacheControl: 'no-cache' });
  });

  test('each media type is cached separately', async () => {
    const { get } = await open(LONG_BLOCK_MS);
    for (const cache of ['MISS', 'HIT']) {
      for (const type of ['application/json', 'application/graphql-response+json']) {
        expect(await get('{ beaconHeight }', type)).toMatchObject({ cache, type: `${type}; charset=utf-8` });
      }
    }
  });
});
