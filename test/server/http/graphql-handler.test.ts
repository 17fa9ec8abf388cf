import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TestGatewayOptions } from '../../support/gateway.ts';
import { sample } from '../../support/metrics.ts';
import { serveGatewayForTest } from '../../support/served-gateway.ts';

const QUIET = { headPollMs: 50, marketPollMs: 60_000 };

async function open(options: TestGatewayOptions = {}) {
  const gateway = await serveGatewayForTest({ ...options, config: { ...QUIET, ...options.config } });
  await gateway.untilReady();
  const post = (query: string, variables?: object) =>
    fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
      body: JSON.stringify({ query, variables }),
    });
  const metrics = async () => (await fetch(new URL('/metrics', gateway.url))).text();
  const counted = async () => {
    const text = await metrics();
    return {
      cached: sample(text, 'pdex_query_responses_total{from="cached"}') ?? 0,
      coalesced: sample(text, 'pdex_query_responses_total{from="coalesced"}') ?? 0,
      executed: sample(text, 'pdex_query_responses_total{from="executed"}') ?? 0,
    };
  };
  return { ...gateway, post, counted };
}

describe('a plain query', () => {
  test('is executed twice for each height, however often it is requested', async () => {
    const { post, counted, sandbox, advance } = await open();
    for (let n = 0; n < 3; n++) {
      expect(await (await post('{ beaconHeight }')).json()).toEqual({
        data: { beaconHeight: sandbox.chain.tip.height },
      });
    }
    expect(await counted()).toEqual({ cached: 1, coalesced: 0, executed: 2 });
    await advance();
    for (let n = 0; n < 3; n++) {
      expect(await (await post('{ beaconHeight }')).json()).toEqual({
        data: { beaconHeight: sandbox.chain.tip.height },
      });
    }
    expect(await counted()).toEqual({ cached: 2, coalesced: 0, executed: 4 });
  });

  test('is executed each time if it contains an age, or failed', async () => {
    const { post, counted, clock } = await open();
    for (let n = 0; n < 3; n++) {
      clock.now += 1_000;
      const { data } = await (await post('{ service { head { ageMs } } }')).json();
      expect(data.service.head.ageMs).toBeGreaterThanOrEqual(1_000 * (n + 1));
      const failed = await (await post('{ beaconHeight poolPairs(first: -1) { totalCount } }')).json();
      expect(failed.errors).toHaveLength(1);
    }
    expect(await counted()).toEqual({ cached: 0, coalesced: 0, executed: 6 });
  });

  test('gets no response of a GET whose URL equals its body, which is not JSON', async () => {
    const { url, counted } = await open();
    const { pathname, search } = new URL(`${url}?query=%7BbeaconHeight%7D`);
    for (let n = 0; n < 3; n++) expect((await fetch(new URL(pathname + search, url))).status).toBe(200);
    expect(await counted()).toEqual({ cached: 1, coalesced: 0, executed: 2 });
    const headers = { 'content-type': 'application/json' };
    const posted = await fetch(url, { method: 'POST', headers, body: pathname + search });
    expect([posted.status, (await posted.json()).errors]).toEqual([
      400,
      [expect.objectContaining({ message: 'The body is not valid JSON.' })],
    ]);
  });

  test('never returns a lower height than before, to any client', async () => {
    const { post, advance, sandbox } = await open();
    let highest = 0;
    for (let n = 0; n < 10; n++) {
      const moved = advance();
      while (highest < sandbox.chain.tip.height) {
        const { data } = await (await post('{ beaconHeight }')).json();
        expect(data.beaconHeight).toBeGreaterThanOrEqual(highest);
        highest = data.beaconHeight;
      }
      await moved;
    }
  });

  test('is never cached if the cache is off', async () => {
    const { post, counted } = await open({ config: { responseCacheBytes: 0 } });
    for (let n = 0; n < 2; n++) expect((await post('{ beaconHeight }')).status).toBe(200);
    expect(await counted()).toEqual({ cached: 0, coalesced: 0, executed: 2 });
  });
});

test('an error of a condition has status 200, because the operation was executed', async () => {
  const { post } = await open();
  const response = await post('query($x: Boolean = true) { beaconHeight @skip(if: $x) }', { x: null });
  expect([response.status, await response.json()]).toEqual([
    200,
    { data: null, errors: [expect.objectContaining({ extensions: { code: 'BAD_USER_INPUT' } })] },
  ]);
});

test.each([
  ['of GraphQL as text', 'application/graphql', '*/*', '{ service { sandbox } }'],
  ['of a client that reads events', 'application/json', 'text/event-stream', '{"query":"{ service { sandbox } }"}'],
])('the chunks of a body %s are joined before Yoga reads it', async (_, type, accept, text) => {
  const { url } = await open({ config: { headPollMs: 60_000 } });
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let resources = 0;
  const hook = createHook({
    init() {
      resources++;
    },
  }).enable();
  onTestFinished(() => void hook.disable());
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nAccept: ${accept}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const chunks = Array.from(text.padEnd(10_000), (character) => `1\r\n${character}\r\n`);
  socket.write(`${head}${chunks.join('')}0\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toContain('HTTP/1.1 200 ');
  // Node needs about one for each chunk. The streams of Yoga would double them.
  expect(resources).toBeLessThan(18_000);
});
