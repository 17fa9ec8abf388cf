import { describe, expect, onTestFinished, test } from 'vitest';
import { createMarketFollower } from '../../../src/live/market/market-follower.ts';
import { createSandboxHosts, type SandboxHosts } from '../../../src/sandbox/sandbox.ts';
import { marketDataAt } from '../../upstream/connect.ts';
import { failureOf } from '../../upstream/failure.ts';

const POLL_MS = 5;
const TIMEOUT_MS = 2_000;
const MAX_AGE_MS = 600_000;

async function followHost(prepare: (host: SandboxHosts['marketData'], sandbox: SandboxHosts) => void = () => {}) {
  const sandbox = await createSandboxHosts({ seed: 7, startTime: 1_795_176_000, history: 5 });
  onTestFinished(sandbox.close);
  prepare(sandbox.marketData, sandbox);
  const { client: host } = marketDataAt(sandbox.marketDataUrl, { timeoutMs: TIMEOUT_MS });
  const clock = { now: 1_000_000 };
  const told: unknown[] = [];
  const market = createMarketFollower({
    host,
    pollMs: POLL_MS,
    timeoutMs: TIMEOUT_MS,
    maxAgeMs: MAX_AGE_MS,
    now: () => clock.now,
    watch: () => ({
      failed: (error) => told.push(error instanceof Error ? error.message : error),
      recovered: () => told.push('recovered'),
    }),
  });
  onTestFinished(() => {
    market.pairs.stop();
    market.tickers.stop();
  });
  return { sandbox, host: sandbox.marketData, client: host, clock, market, told };
}

const NO_TICKERS = 'The market-data host sent an invalid response: expected an array at $.tickers.';

describe('the lists of a market-data host', () => {
  test('are pairs and tickers, read separately', async () => {
    const { client, market } = await followHost();
    const [pairs, tickers] = await Promise.all([market.pairs.get(), market.tickers.get()]);
    expect([pairs.observedAt, pairs.dropped, tickers.dropped]).toEqual([1_000_000, 0, 0]);
    expect(pairs.market.rows).toEqual((await client.pairs()).rows);
    expect(tickers.market.rows).toEqual((await client.tickers()).rows);
    expect(market.freshness()).toEqual({ observedAt: 1_000_000, stale: false });
  });

  test('stay the same objects while the responses are equal', async () => {
    const { market, clock } = await followHost();
    const first = await market.tickers.get();
    clock.now += 5_000;
    await expect.poll(() => market.tickers.current()?.observedAt).toBe(1_005_000);
    expect(market.tickers.current()?.market).toBe(first.market);
  });

  test('are new objects when a response differs', async () => {
    const { sandbox, client, market } = await followHost();
    const first = await market.tickers.get();
    const pairs = await market.pairs.get();
    sandbox.advance(3);
    await expect.poll(() => market.tickers.current()?.market === first.market).toBe(false);
    expect(market.tickers.current()?.market.rows).toEqual((await client.tickers()).rows);
    expect(market.pairs.current()?.market).toBe(pairs.market);
  });

  test('say how many rows could not be read', async () => {
    const { market, sandbox } = await followHost((host) => {
      host.faults.set({ kind: 'shape', path: ['pairs', 0, 'pool_id'], value: null });
    });
    const { dropped, market: read } = await market.pairs.get();
    expect([dropped, read.rows.length]).toEqual([1, sandbox.chain.markets.length - 1]);
  });
});

test('a long list is prepared in several turns of the event loop', async () => {
  const row = { baseId: 'a', base: 'A', targetId: 'b', target: 'B' };
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ ...row, tickerId: `${n % 1_000}`, poolId: `${n}` }));
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  const answer = async () => {
    setImmediate(count);
    return { rows, dropped: 0 };
  };
  const follow = { pollMs: 1e6, timeoutMs: TIMEOUT_MS, maxAgeMs: MAX_AGE_MS, now: () => 5 };
  const { pairs, tickers } = createMarketFollower({
    ...follow,
    host: { pairs: answer, tickers: () => new Promise(() => {}), orderBook: async () => undefined },
    watch: () => ({ failed: () => {}, recovered: () => {} }),
  });
  const { market } = await pairs.get();
  isOver = true;
  for (const list of [pairs, tickers]) list.stop();
  expect(turns).toBeGreaterThanOrEqual(20);
  expect(market.byPoolId.size).toBe(20_000);
  expect(market.byTickerId.get('7')?.length).toBe(20);
});

describe('if one list cannot be read', () => {
  test('pairs are read while tickers respond "no data" from the start', async () => {
    const { market, told, host } = await followHost((control) => {
      control.faults.set({ kind: 'no-data', on: 'tickers' });
    });
    expect((await market.pairs.get()).dropped).toBe(0);
    expect(await failureOf(market.tickers.get())).toMatchObject({ code: 'UPSTREAM_BAD_SHAPE', message: NO_TICKERS });
    expect(market.freshness()).toBeUndefined();
    expect([market.pairs.isFailing(), market.tickers.isFailing()]).toEqual([false, true]);

    host.faults.clear();
    await expect.poll(() => market.freshness()).toEqual({ observedAt: 1_000_000, stale: false });
    expect(told).toEqual([NO_TICKERS, 'recovered']);
  });

  test('pairs are read while tickers respond so later; the last good tickers stay, and are stale', async () => {
    const { market, told, host, clock } = await followHost();
    const tickers = await market.tickers.get();
    await market.pairs.get();
    host.faults.set({ kind: 'no-data', on: 'tickers' });
    await expect.poll(() => market.tickers.isFailing()).toBe(true);
    const last = await market.tickers.get();
    expect(last).toEqual(tickers);

    clock.now += 10;
    await expect.poll(() => market.pairs.current()?.observedAt).toBe(1_000_010);
    expect(market.freshness()).toEqual({ observedAt: 1_000_000, stale: true });
    expect(await market.tickers.get()).toBe(last);
    expect(told).toEqual([NO_TICKERS]);
  });
});

describe('a list that has no rows', () => {
  test('after one that had rows is no list: the last good one stays, and is stale', async () => {
    const { market, told, host } = await followHost();
    const tickers = await market.tickers.get();
    await market.pairs.get();
    host.faults.set({ kind: 'shape', on: 'tickers', path: ['tickers'], value: [] });
    await expect.poll(() => market.tickers.isFailing()).toBe(true);
    expect((await market.tickers.get()).market).toBe(tickers.market);
    expect(market.freshness()).toMatchObject({ stale: true });
    host.faults.clear();
    await expect.poll(() => market.freshness()).toEqual({ observedAt: 1_000_000, stale: false });
    const message = 'The market-data host sent an invalid response: tickers has no rows any more.';
    expect(told).toEqual([message, 'recovered']);
  });

  test('is an empty list from the start', async () => {
    const { market } = await followHost((host) => {
      host.faults.set({ kind: 'shape', on: 'pairs', path: ['pairs'], value: [] });
    });
    expect((await market.pairs.get()).market.rows).toEqual([]);
  });
});

test('of the rows with the same pool id, the first counts, and the list stays the same while the response is', async () => {
  const { market, sandbox, clock } = await followHost((host, { chain }) => {
    host.faults.set({ kind: 'shape', on: 'pairs', path: ['pairs', 3, 'pool_id'], value: chain.markets[1]?.poolId });
  });
  const first = await market.pairs.get();
  const tickerIds = sandbox.chain.markets.map(({ tickerId }) => tickerId);
  expect(first.market.rows.map(({ tickerId }) => tickerId)).toEqual(tickerIds.filter((_, place) => place !== 3));
  const [, row] = first.market.rows;
  expect([first.dropped, first.market.byPoolId.get(row?.poolId ?? '')]).toEqual([1, row]);
  clock.now += 5_000;
  await expect.poll(() => market.pairs.current()?.observedAt).toBe(1_005_000);
  expect(market.pairs.current()?.market).toBe(first.market);
});

describe('when a list is stale', () => {
  test('when it was not read for three intervals and the upstream timeout', async () => {
    const { market, clock, host } = await followHost();
    await Promise.all([market.pairs.get(), market.tickers.get()]);
    const callsOf = () => [host.calls('pairs'), host.calls('tickers')];
    const before = callsOf();
    host.faults.set({ kind: 'hang' });
    await expect.poll(() => callsOf().every((calls, list) => calls > (before[list] ?? 0))).toBe(true);
    const { observedAt } = market.freshness() ?? {};
    expect(observedAt).toBe(1_000_000);
    clock.now = 1_000_000 + 3 * POLL_MS + TIMEOUT_MS;
    expect(market.freshness()).toEqual({ observedAt, stale: false });
    clock.now += 1;
    expect(market.freshness()).toEqual({ observedAt, stale: true });
  });
});

describe('the maximum age of a list', () => {
  test('applies while the host cannot be read: then clients get the error, and age and updates stay', async () => {
    const { market, clock, host, sandbox } = await followHost();
    const tickers = await market.tickers.get();
    await market.pairs.get();
    host.faults.set({ kind: 'status', status: 503 });
    await expect.poll(() => market.tickers.isFailing() && market.pairs.isFailing()).toBe(true);

    const { observedAt = 0 } = market.freshness() ?? {};
    clock.now = observedAt + MAX_AGE_MS;
    expect((await market.tickers.get()).market).toBe(tickers.market);
    clock.now += 1;
    expect(await failureOf(market.tickers.get())).toMatchObject({ code: 'UPSTREAM_BAD_STATUS' });
    expect(await failureOf(market.pairs.get())).toMatchObject({ code: 'UPSTREAM_BAD_STATUS' });
    expect(market.tickers.current()).toBeUndefined();
    expect(market.freshness()).toEqual({ observedAt, stale: true });

    host.faults.clear();
    sandbox.advance();
    const readAt = () => [market.pairs, market.tickers].map((list) => list.current()?.observedAt);
    await expect.poll(readAt).toEqual([clock.now, clock.now]);
    expect((await market.pairs.get()).market.rows).toEqual(market.pairs.newest()?.market.rows);
  });
});
