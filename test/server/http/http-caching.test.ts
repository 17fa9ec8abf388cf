import { describe, expect, test } from 'vitest';
import { serveGatewayForTest } from '../../support/served-gateway.ts';

async function open(corsOrigins: readonly string[] = []) {
  const gateway = await serveGatewayForTest({
    sandbox: { history: 20 },
    isSandbox: false,
    config: { corsOrigins, marketPollMs: 60_000, orderBookTtlMs: 5_000 },
  });
  await gateway.ask('{ beaconHeight pairs { id } tickers { id } }');
  const get = (query: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}?${new URLSearchParams({ query })}`, { headers });
  const cacheControl = async (query: string) => (await get(query)).headers.get('cache-control');
  const etag = async (query: string, headers?: Record<string, string>) =>
    (await get(query, headers)).headers.get('etag') ?? '';
  return { ...gateway, get, cacheControl, etag };
}

describe('the cache headers of a response to GET', () => {
  test('max-age is the time to the next block, once the block interval is known', async () => {
    const { cacheControl, clock, advance } = await open();
    expect(await cacheControl('{ beaconHeight }')).toBe('no-cache');
    for (let n = 0; n < 3; n++) {
      clock.now += 40_000;
      await advance();
    }
    expect(await cacheControl('{ beaconHeight }')).toBe('max-age=40');
    clock.now += 12_300;
    expect(await cacheControl('{ beaconHeight }')).toBe('max-age=27');
    // There is no max-age below a second, nor after the expected time.
    clock.now += 26_800;
    expect(await cacheControl('{ beaconHeight }')).toBe('no-cache');
    clock.now += 60_000;
    expect(await cacheControl('{ beaconHeight }')).toBe('no-cache');
  });

  test('max-age is the time to the next update of the data that the response depends on, and to the first of several', async () => {
    const { cacheControl, clock, advance, app } = await open();
    const tickerId = app.service.sources.market.tickers.current()?.market.rows[0]?.tickerId;
    for (let n = 0; n < 2; n++) {
      clock.now += 20_000;
      await advance();
    }
    expect(await cacheControl('{ pairs { id } }')).toBe('max-age=20');
    clock.now += 5_000;
    expect(await cacheControl('{ tickers { id } }')).toBe('max-age=15');
    expect(await cacheControl('{ beaconHeight }')).toBe('max-age=15');
    expect(await cacheControl(`{ orderBook(tickerId: "${tickerId}") { tickerId } }`)).toBe('max-age=5');
    expect(await cacheControl(`{ beaconHeight orderBook(tickerId: "${tickerId}") { tickerId } }`)).toBe('max-age=5');
  });

  test('caches do not store ages, a ticker that does not exist yet, or responses to POST', async () => {
    const { url, get } = await open();
    for (const query of ['{ service { version } }', '{ orderBook(tickerId: "NO_PE") { tickerId } }'])
      expect((await get(query)).headers.get('etag')).toBeNull();
    const headers = { 'content-type': 'application/json' };
    const posted = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: '{ beaconHeight }' }) });
    expect([posted.headers.get('etag'), posted.headers.get('cache-control')]).toEqual([null, null]);
  });

  test.each([
    ['that is malformed', '&variables=x', {}, 'no-store'],
    ['for an event stream', '', { accept: 'text/event-stream' }, 'no-cache, no-transform'],
  ])('the response to a request %s is not stored', async (_, more, headers, caching) => {
    const { url } = await open();
    const response = await fetch(`${url}?query={beaconHeight}${more}`, { headers });
    expect(response.headers.get('cache-control')).toBe(caching);
    await response.body?.cancel();
  });

  test('the response varies by Accept, and by the origin if origins are configured', async () => {
    expect((await (await open()).get('{ beaconHeight }')).headers.get('vary')).toBe(
      'accept, x-pdex-cost, x-pdex-min-height',
    );
    const { get } = await open(['https://app.example']);
    expect((await get('{ beaconHeight }')).headers.get('vary')).toBe('accept, x-pdex-cost, x-pdex-min-height, origin');
    const asked = await get('{ beaconHeight }', { origin: 'https://app.example' });
    expect(asked.headers.get('access-control-allow-origin')).toBe('https://app.example');
  });
});

describe('a GET with an entity tag', () => {
  test('gets 304 for every form of the tag, with the cache headers', async () => {
    const { get, etag } = await open();
    const tag = await etag('{ beaconHeight }');
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, `"other",W/${tag} , "more"`, '*']) {
      const response = await get('{ beaconHeight }', { 'if-none-match': known });
      const { status, headers } = response;
      expect([known, status, await response.text()]).toEqual([known, 304, '']);
      expect([headers.get('etag'), headers.get('vary'), headers.get('cache-control')]).toEqual([
        tag,
        'accept, x-pdex-cost, x-pdex-min-height',
        'no-cache',
      ]);
      expect([headers.get('content-length'), headers.get('content-type')]).toEqual([null, null]);
    }
  });

  test('gets a complete response if it has changed', async () => {
    const { get, etag, advance, sandbox } = await open();
    const tag = await etag('{ beaconHeight }');
    for (const known of ['"other"', tag.slice(1, -1), `${tag}x`]) {
      expect((await get('{ beaconHeight }', { 'if-none-match': known })).status).toBe(200);
    }
    await advance();
    const response = await get('{ beaconHeight }', { 'if-none-match': tag });
    expect([response.status, await response.json()]).toEqual([
      200,
      { data: { beaconHeight: sandbox.chain.tip.height } },
    ]);
  });

  test('gets 304 after a new height that does not change the response', async () => {
    const { get, etag, advance } = await open();
    const query = '{ pairs { id } }';
    const tag = await etag(query);
    await advance();
    expect((await get(query, { 'if-none-match': tag })).status).toBe(304);
  });

  test('differs for each media type', async () => {
    const { etag } = await open();
    const tags = ['application/json', 'application/graphql-response+json'].map((accept) =>
      etag('{ beaconHeight }', { accept }),
    );
    expect(new Set(await Promise.all(tags)).size).toBe(2);
  });
});
