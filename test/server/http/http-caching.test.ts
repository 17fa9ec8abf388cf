import { describe, expect, test } from 'vitest';
import { serveGatewayForTest } from '../../support/served-gateway.ts';

async function open(corsOrigins: readonly string[] = []) {
  const gateway = await serveGatewayForTest({
    sandbox: { history: 20 },
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

describe('what caches are told of an answer to GET', () => {
  test('nothing is promised until the usual interval of blocks is known, then the time to the next', async () => {
    const { cacheControl, clock, advance } = await open();
    expect(await cacheControl('{ beaconHeight }')).toBe('no-cache');
    for (let n = 0; n < 3; n++) {
      clock.now += 40_000;
      await advance();
    }
    expect(await cacheControl('{ beaconHeight }')).toBe('max-age=40');
    clock.now += 12_300;
    expect(await cacheControl('{ beaconHeight }')).toBe('max-age=27');
    // Less than a second is not worth a promise, and what is overdue can come at any moment.
    clock.now += 26_800;
    expect(await cacheControl('{ beaconHeight }')).toBe('no-cache');
    clock.now += 60_000;
    expect(await cacheControl('{ beaconHeight }')).toBe('no-cache');
  });

  test('the time to the next reading of what the answer rests on, and to the first of several', async () => {
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

  test('no cache keeps what tells of this moment, nor what is posted', async () => {
    const { url, get } = await open();
    expect((await get('{ service { version } }')).headers.get('etag')).toBeNull();
    const headers = { 'content-type': 'application/json' };
    const posted = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: '{ beaconHeight }' }) });
    expect([posted.headers.get('etag'), posted.headers.get('cache-control')]).toEqual([null, null]);
  });

  test.each([
    ['that cannot be read', '&variables=x', {}],
    ['that only a stream answers', '', { accept: 'text/event-stream' }],
  ])('a request %s is not kept', async (_, more, headers) => {
    const { url } = await open();
    const response = await fetch(`${url}?query={beaconHeight}${more}`, { headers });
    expect(response.headers.get('cache-control')).toMatch(/^no-(store|cache)$/);
    await response.body?.cancel();
  });

  test('the answer depends on Accept, and on the origin where some are listed', async () => {
    expect((await (await open()).get('{ beaconHeight }')).headers.get('vary')).toBe('accept, x-pdex-cost');
    const { get } = await open(['https://app.example']);
    expect((await get('{ beaconHeight }')).headers.get('vary')).toBe('accept, x-pdex-cost, origin');
    const asked = await get('{ beaconHeight }', { origin: 'https://app.example' });
    expect(asked.headers.get('access-control-allow-origin')).toBe('https://app.example');
  });
});

describe('a GET by someone who has the answer', () => {
  test('is told so, in whatever way the tag is given, with what a cache needs to keep it longer', async () => {
    const { get, etag } = await open();
    const tag = await etag('{ beaconHeight }');
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, `"other",W/${tag} , "more"`, '*']) {
      const response = await get('{ beaconHeight }', { 'if-none-match': known });
      const { status, headers } = response;
      expect([known, status, await response.text()]).toEqual([known, 304, '']);
      expect([headers.get('etag'), headers.get('vary'), headers.get('cache-control')]).toEqual([
        tag,
        'accept, x-pdex-cost',
        'no-cache',
      ]);
      expect([headers.get('content-length'), headers.get('content-type')]).toEqual([null, null]);
    }
  });

  test('gets the whole of another answer', async () => {
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

  test('has it again after a new height that changes nothing of it', async () => {
    const { get, etag, advance } = await open();
    const query = '{ pairs { id } }';
    const tag = await etag(query);
    await advance();
    expect((await get(query, { 'if-none-match': tag })).status).toBe(304);
  });

  test('has another tag for each media type', async () => {
    const { etag } = await open();
    const tags = ['application/json', 'application/graphql-response+json'].map((accept) =>
      etag('{ beaconHeight }', { accept }),
    );
    expect(new Set(await Promise.all(tags)).size).toBe(2);
  });
});
