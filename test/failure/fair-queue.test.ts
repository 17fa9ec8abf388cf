import { expect, test, vi } from 'vitest';
import { createMemoryStore } from '../history/memory-store.ts';
import { NEVER_MS, startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

const AT_ONCE = 2;
// A busy machine needs its time for 64 heights.
// Two connections are reserved for polling, and two for blocks.
const CONFIG = { upstreamMaxConnections: AT_ONCE + 4, upstreamTimeoutMs: NEVER_MS };

/** An operation that requests one pool at each of these heights. */
function chartOf(heights: readonly number[]): string {
  const pool = `poolPair(token1Id: "${PRV}", token2Id: "${BTC}"`;
  return `{ ${heights.map((at) => `h${at}: ${pool}, at: ${at}) { beaconHeight }`).join(' ')} }`;
}

function answerOf(heights: readonly number[]) {
  return { data: Object.fromEntries(heights.map((at) => [`h${at}`, { beaconHeight: at }])) };
}

/**
 * Heights that nobody has read yet, at a node that is known to have them and is slow: none of the first ones is finished before
 * the single height of the other client is in the queue.
 *
 * @returns also the heights whose reads have begun
 */
async function slowHeights({ ask, sandbox, app }: TestGateway) {
  const { height } = sandbox.chain.tip;
  const single = height - 100;
  await ask(chartOf([single - 1]));
  sandbox.node.faults.set({ kind: 'delay', on: 'getpdestate', ms: 20 });

  const { head, pastStates } = app.service.sources;
  const node = head.current()?.source;
  if (node === undefined) throw new Error('no head was read');
  const otherHasCome = Promise.withResolvers<void>();
  const { readAll } = pastStates;
  vi.spyOn(pastStates, 'readAll').mockImplementation((heights, ...rest) => {
    const states = readAll(heights, ...rest);
    // It is in the queue now.
    if (heights.includes(single)) otherHasCome.resolve();
    return states;
  });
  const begun: number[] = [];
  const { readPastState } = node;
  vi.spyOn(node, 'readPastState').mockImplementation(async (past, signal) => {
    begun.push(past.height);
    await otherHasCome.promise;
    return readPastState(past, signal);
  });
  return { chart: Array.from({ length: 64 }, (_, point) => height - 10 - point), single: [single], begun };
}

/** The calls under way, one more of the other client, the call itself, and those that began beside it. */
const ABOUT_ONE_TURN = 3 * AT_ONCE;

test('while the chart of one client waits for 64 slow heights, another client gets its height after about one of them', async () => {
  const gateway = await startGatewayForTest({ config: CONFIG });
  const { ask } = gateway;
  const { chart, single, begun } = await slowHeights(gateway);
  const drawn = ask(chartOf(chart));
  await expect.poll(() => begun.length).toBe(AT_ONCE);
  expect(await ask(chartOf(single))).toEqual(answerOf(single));
  expect(begun.length - AT_ONCE).toBeLessThanOrEqual(ABOUT_ONE_TURN);
  expect(await drawn).toEqual(answerOf(chart));
});

test('when the chart fills the queue, its own newest heights fail with UPSTREAM_BUSY, and no height of another client', async () => {
  const gateway = await startGatewayForTest({ config: { ...CONFIG, upstreamMaxWaiting: 10 } });
  const { ask } = gateway;
  const { chart, single, begun } = await slowHeights(gateway);
  const drawn = ask(chartOf(chart));
  await expect.poll(() => begun.length).toBe(AT_ONCE);
  expect(await ask(chartOf(single))).toEqual(answerOf(single));
  const { errors } = await drawn;
  expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['UPSTREAM_BUSY']));
  expect(errors).toHaveLength(chart.length - AT_ONCE - 10 + 1);
});

test('a client that requests each height in an operation of its own gets no larger share', async () => {
  const gateway = await serveGatewayForTest({
    config: { ...CONFIG, trustedProxies: ['loopback'], maxOperationsPerRequest: 64 },
  });
  const { url } = gateway;
  const { chart, single, begun } = await slowHeights(gateway);
  async function askFrom(address: string, body: unknown): Promise<unknown> {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return response.json();
  }

  const many = askFrom(
    '198.51.100.7',
    chart.map((height) => ({ query: chartOf([height]) })),
  );
  await expect.poll(() => begun.length).toBe(AT_ONCE);
  expect(await askFrom('203.0.113.9', { query: chartOf(single) })).toEqual(answerOf(single));
  expect(begun.length - AT_ONCE).toBeLessThanOrEqual(ABOUT_ONE_TURN);
  expect(await many).toEqual(chart.map((height) => answerOf([height])));
});

test('blocks that take very long keep no client from an earlier height', async () => {
  const { ask, sandbox, advance, untilReady } = await startGatewayForTest({
    sandbox: { exchange: 'v3', history: 30 },
    store: createMemoryStore(),
    config: { ...CONFIG, upstreamMaxPauseMs: 100 },
  });
  await untilReady();
  const call = 'retrievebeaconblockbyheight';
  const clear = sandbox.node.faults.set({ kind: 'reset', on: call });
  for (let block = 0; block < CONFIG.upstreamMaxConnections; block++) await advance();
  clear();
  sandbox.node.faults.set({ kind: 'hang', on: call });
  sandbox.node.resetCalls();
  // The blocks could not be read for their heads. They are read for clients when the pause after that is over.
  await expect
    .poll(() => {
      ask('{ poolPairs(first: 1) { nodes { trades(first: 5) { nodes { id } } } } }').catch(() => {});
      return sandbox.node.calls(call);
    })
    .toBeGreaterThanOrEqual(2);
  const at = sandbox.chain.tip.height - 20;
  expect(await ask(`{ poolPairs(first: 1, at: ${at}) { totalCount } }`)).not.toHaveProperty('errors');
});
