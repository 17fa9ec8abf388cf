import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { INTERVAL_MS } from '../../src/domain/candle.ts';
import { priceOfToken2 } from '../../src/domain/price.ts';
import type { Reserves } from '../../src/domain/reserves.ts';
import { HistoryDatabaseError } from '../../src/history/store.ts';
import { chainHeights } from '../history/of-chain.ts';
import { CANDLE, shownCandle } from '../history/shown-candles.ts';
import { createStoreModel, expectedCandles, reservesAt, type StoreModel } from '../history/store-model.ts';
import { collect, dataOf } from '../support/events.ts';
import { type Answer, startGateway, startGatewayForTest, startSandbox, type TestGateway } from '../support/gateway.ts';
import { BTC, NOBODYS, PRV } from '../support/tokens.ts';
import { until } from '../support/until.ts';
import { connect } from '../support/websocket.ts';

const HOUR = 3_600_000;

const CHANGE = 'fromHeight fromTime from to high low absolute percent tradedToken1 tradedToken2 isComplete';

/** A gateway that records an hour of the sandbox before its first height. */
async function record(store: StoreModel) {
  const config = { historyBackfillHours: 1, historyBackfillStep: 1 };
  const gateway = await startGateway({ store, config, sandbox: { pools: 30, sharesPerPool: 1 } });
  await gateway.untilHeight(1);
  // The heights just below the first one become final, and are read.
  for (let block = 0; block < 4; block++) await gateway.advance();
  const { history } = gateway.app.service.sources;
  await until(() => {
    const recorded = store.heights();
    const [first = 0, last] = [recorded[0], recorded.at(-1)];
    const isWhole = recorded.length > 80 && last === first + recorded.length - 1;
    return isWhole && last === gateway.sandbox.chain.tip.height - 3 && !history.isBackfilling();
  });
  return gateway;
}

/** Waits until a height is recorded. */
async function untilRecorded({ ask }: TestGateway, height: number): Promise<void> {
  await until(async () => (await ask('{ history { lastHeight } }')).data.history?.lastHeight >= height);
}

const iso = (time: number) => new Date(time).toISOString();

describe('the history of pools', () => {
  let store: StoreModel;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => {
    store = createStoreModel();
    gateway = await record(store);
  });
  afterAll(() => gateway.close());

  const decimalsOf = (id: string) => gateway.sandbox.chain.tokens.find((token) => token.id === id)?.decimals ?? 0;

  test('candles of a page are those of the chain, also of the heights that are not recorded', async () => {
    const { chain } = gateway.sandbox;
    const { reads } = store;
    const before = reads.candles;
    const { data, errors } = await gateway.ask(
      `{ beaconHeight history { firstHeight } poolPairs(first: 500) { nodes { id token1 { tokenId } token2 { tokenId } candles(interval: FIFTEEN_MINUTES) { ${CANDLE} } } } }`,
    );
    expect(errors).toBeUndefined();
    // One for each time slice in which the page is written.
    expect(reads.candles - before).toBeLessThan(5);
    const known = chainHeights(gateway.sandbox, data.history.firstHeight);
    expect(data.poolPairs.nodes).toHaveLength(30);
    let priced = 0;
    for (const { id, token1, token2, candles } of data.poolPairs.nodes) {
      const decimals = [token1, token2].map(({ tokenId }) => chain.tokens.find((token) => token.id === tokenId));
      if (decimals.some((token) => token?.symbol === undefined)) {
        expect(candles.every(({ close }: { close: null }) => close === null)).toBe(true);
        continue;
      }
      priced += 1;
      const expected = expectedCandles(known, id.slice('PoolPair:'.length), 'FIFTEEN_MINUTES', chain.tip.height);
      expect(candles).toEqual(
        expected.map((candle) => shownCandle(candle, [decimalsOf(token1.tokenId), decimalsOf(token2.tokenId)])),
      );
    }
    expect(priced).toBeGreaterThan(20);
  });

  /** Windows of different lengths, whose starts are read one by one. */
  const windowsOf = (count: number) => Array.from({ length: count }, (_, n) => `c${n}:change(hours:${n + 1}){to}`);
  const BTC_POOL = `token1Id: "${PRV}", token2Id: "${BTC}"`;

  test('an operation with more than 500 different reads gets all of them', async () => {
    const windows = windowsOf(520);
    const { data, errors } = await gateway.ask(`{ poolPair(${BTC_POOL}) { price ${windows.join(' ')} } }`);
    expect(errors).toBeUndefined();
    const { price, ...changes } = data.poolPair;
    expect(Object.values(changes)).toEqual(windows.map(() => ({ to: price })));
  });

  test('an operation with more reads than may wait gets an error that says so', async () => {
    const old = `poolPair(${BTC_POOL}, at: ${gateway.sandbox.chain.tip.height - 20})`;
    const { errors = [] } = await gateway.ask(
      `{ poolPair(${BTC_POOL}) { ...Changes } old: ${old} { ...Changes } } fragment Changes on PoolPair { ${windowsOf(800).join(' ')} }`,
    );
    expect(errors.length).toBeGreaterThan(50);
    expect(errors[0]).toMatchObject({
      message: expect.stringMatching(/^Too many reads of the recorded history are waiting\./),
      extensions: { code: 'HISTORY_UNAVAILABLE' },
    });
  });

  test('candles, changes and sparklines of an earlier height end there', async () => {
    const { chain } = gateway.sandbox;
    const at = chain.tip.height - 30;
    const query = `{ history { firstHeight } poolPair(token1Id: "${PRV}", token2Id: "${BTC}", at: ${at}) { price candles(interval: FIVE_MINUTES, last: 3) { ${CANDLE} } change(hours: 1) { ${CHANGE} } sparkline(hours: 1, points: 4) } }`;
    const { data, errors } = await gateway.ask(query);
    expect(errors).toBeUndefined();
    const known = chainHeights(gateway.sandbox, data.history.firstHeight, at);
    const id = [PRV, BTC].sort().join('-');
    const decimals = [PRV, BTC].sort().map(decimalsOf) as [number, number];
    const expected = expectedCandles(known, id, 'FIVE_MINUTES', chain.tip.height).slice(-3);
    const { price, candles, change, sparkline } = data.poolPair;
    expect(candles).toEqual(expected.map((candle) => shownCandle(candle, decimals)));
    expect(candles.map(({ isClosed }: { isClosed: boolean }) => isClosed)).toEqual([true, true, false]);
    const [first] = known;
    const from = priceOfToken2(reservesAt(first, id) as Reserves, ...decimals) as number;
    expect(change).toMatchObject({
      fromHeight: first?.beaconHeight,
      fromTime: iso(first?.time ?? 0),
      from,
      to: price,
      absolute: price - from,
      percent: 100 * (price / from - 1),
      isComplete: false,
    });
    expect(sparkline).toHaveLength(4);
    expect([sparkline[0], sparkline[3]]).toEqual([null, price]);
  });

  test('a pair has the change of its price and its sparkline in target tokens per base token', async () => {
    const market = async (tickerId: string) => {
      const { data, errors } = await gateway.ask(
        `{ pair(tickerId: "${tickerId}") { baseId poolPrice change(hours: 1) { ${CHANGE} } sparkline(hours: 1, points: 3) poolPair { token1 { tokenId } price change(hours: 1) { ${CHANGE} } sparkline(hours: 1, points: 3) candles(interval: FIFTEEN_MINUTES) { open high low close inverseOpen inverseHigh inverseLow inverseClose firstHeight lastHeight } } } }`,
      );
      expect(errors).toBeUndefined();
      return data.pair;
    };
    const same = await market('pBTC_PRV');
    expect(same.change).toEqual(same.poolPair.change);
    expect(same.sparkline).toEqual(same.poolPair.sparkline);

    const other = await market('PRV_pDAI');
    const { change, sparkline, poolPair, poolPrice } = other;
    expect(other.baseId).toBe(poolPair.token1.tokenId);
    const { from, to, high, low, absolute, percent, ...rest } = change;
    expect(to).toBe(poolPrice);
    expect([absolute, percent]).toEqual([to - from, 100 * (to / from - 1)]);
    expect(poolPair.change).toMatchObject(rest);
    expect(sparkline[2]).toBe(poolPrice);

    // The price of the other token is about the reciprocal: it has the price impact of one whole token.
    const inverse = (price: number) => expect.closeTo(1 / price, 2);
    expect([from, high, low]).toEqual([poolPair.change.from, poolPair.change.low, poolPair.change.high].map(inverse));
    expect(high).toBeGreaterThanOrEqual(Math.max(from, to));
    expect(low).toBeLessThanOrEqual(Math.min(from, to));
    expect(poolPair.candles.at(-1).inverseClose).toBe(poolPrice);
    for (const candle of poolPair.candles) {
      const { inverseOpen, inverseHigh, inverseLow, inverseClose } = candle;
      expect(inverseHigh).toBe(Math.max(inverseOpen, inverseHigh, inverseLow, inverseClose));
      expect(inverseLow).toBe(Math.min(inverseOpen, inverseHigh, inverseLow, inverseClose));
      expect(inverseHigh).toEqual(inverse(candle.low));
    }
  });

  test('a pair without a pool has no history', async () => {
    const { data, errors } = await gateway.ask(
      '{ pair(tickerId: "pDAF_PRV") { poolPair { id } change { to } sparkline } }',
    );
    expect([data.pair, errors]).toEqual([{ poolPair: null, change: null, sparkline: null }, undefined]);
  });

  test('decimals can be set, and are needed where they are unknown', async () => {
    const { chain } = gateway.sandbox;
    const unknown = chain.pools.find(
      ({ token1, token2 }) => token1.symbol === undefined || token2.symbol === undefined,
    );
    const tokens = `token1Id: "${unknown?.token1.id}", token2Id: "${unknown?.token2.id}"`;
    const fields = (args: string) =>
      `candles(interval: ONE_DAY, last: 1${args && `, ${args}`}) { close tradedToken1 } change(hours: 2${args && `, ${args}`}) { to high } sparkline(points: 2${args && `, ${args}`})`;
    const ask = async (args: string) =>
      (await gateway.ask(`{ poolPair(${tokens}) { price(${args || 'decimals1: null'}) ${fields(args)} } }`)).data
        .poolPair;
    const without = await ask('');
    expect(without).toMatchObject({
      price: null,
      candles: [{ close: null }],
      change: { to: null, high: null },
      sparkline: [null, null],
    });
    const args = 'decimals1: 4, decimals2: 6';
    const { price, candles, change, sparkline } = await ask(args);
    expect([candles[0].close, change.to, sparkline[1]]).toEqual([price, price, price]);
    expect(candles[0].tradedToken1).toBe(without.candles[0].tradedToken1);
  });

  test.each([
    [
      'candles(interval: ONE_HOUR, from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z") { open }',
      /from is not before to/,
    ],
    ['candles(interval: ONE_HOUR, from: "2026-02-30T00:00:00Z") { open }', /date and time/],
    ['candles(interval: ONE_HOUR, to: "yesterday") { open }', /date and time/],
    ['candles(interval: ONE_HOUR, to: 1767225600) { open }', /date and time/],
    ['candles(interval: ONE_HOUR, last: 0) { open }', /last is 0/],
    ['candles(interval: ONE_HOUR, last: 1001) { open }', /last is 1001. The maximum is 1000/],
    ['candles(interval: ONE_HOUR, last: 2147483647) { open }', /last is 2147483647. The maximum is 1000/],
    ['candles(interval: ONE_HOUR, decimals1: 31) { open }', /decimals1 is 31/],
    ['change(hours: 0) { from }', /hours is 0/],
    ['change(hours: 8785) { from }', /hours is 8785. The maximum is 8784/],
    ['change(decimals2: -1) { from }', /decimals2 is -1/],
    ['sparkline(points: 1)', /points is 1/],
    ['sparkline(points: 501)', /points is 501/],
    ['sparkline(hours: 9000)', /hours is 9000/],
  ])('%s is BAD_USER_INPUT, and fails only its field', async (field, message) => {
    const { data, errors } = await gateway.ask(
      `{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { price x: ${field} } }`,
    );
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(message),
        path: ['poolPair', 'x'],
        extensions: { code: 'BAD_USER_INPUT' },
      }),
    ]);
    expect(data.poolPair).toEqual({ price: expect.any(Number), x: null });
  });

  test('times have any offset, and null is the same as no argument', async () => {
    const ask = async (args: string) =>
      (
        await gateway.ask(
          `{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { candles(interval: FIFTEEN_MINUTES${args}) { openTime } } }`,
        )
      ).data.poolPair.candles.map(({ openTime }: { openTime: string }) => openTime);
    const all = await ask('');
    expect(await ask(', last: null, from: null, to: null, decimals1: null')).toEqual(all);
    const offset = all[1].replace('.000Z', '+00:00');
    expect(await ask(`, from: "${offset}", last: 2`)).toEqual(all.slice(1).slice(-2));
    const later = `${iso(Date.parse(all[2]) + 2 * HOUR).slice(0, 19)}+02:00`;
    expect(await ask(`, to: "${later}"`)).toEqual(all.slice(0, 2));
  });

  test('history is what is recorded, with its gaps', async () => {
    const { data } = await gateway.ask(
      '{ history { firstHeight firstTime lastHeight lastTime heights isBackfilling gaps { from to } none: gaps(first: 0) { from } } }',
    );
    const heights = store.heights();
    const { chain } = gateway.sandbox;
    const timeOf = (height: number) => iso((chain.block(height)?.time ?? 0) * 1_000);
    expect(data.history).toEqual({
      firstHeight: heights[0],
      firstTime: timeOf(heights[0] ?? 0),
      lastHeight: chain.tip.height - 3,
      lastTime: timeOf(chain.tip.height - 3),
      heights: heights.length,
      isBackfilling: false,
      gaps: [],
      none: [],
    });
    for (const field of [
      'gaps(first: -1) { from }',
      'gaps(first: 2147483647) { from }',
      'blocks(last: 2147483647) { hash }',
    ]) {
      const { errors } = await gateway.ask(`{ history { ${field} } }`);
      expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    }
  });

  test('a cached response has what was recorded since', async () => {
    const query = '{ history { lastHeight } }';
    for (let time = 0; time < 3; time++) await gateway.ask(query);
    await gateway.advance();
    await untilRecorded(gateway, gateway.sandbox.chain.tip.height - 3);
  });

  test('while the database fails, each field is null with HISTORY_UNAVAILABLE, and the live rest is whole', async () => {
    store.fail(new HistoryDatabaseError('the disk is full'));
    const pool = 'price candles(interval: ONE_MINUTE) { close } sparkline(points: 7, hours: 1)';
    const { data, errors } = await gateway.ask(
      `{ beaconHeight history { heights } poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { ${pool} change(hours: 7) { high } } }`,
    );
    store.fail(undefined);
    expect(data).toEqual({
      beaconHeight: gateway.sandbox.chain.tip.height,
      history: null,
      poolPair: { price: expect.any(Number), candles: null, sparkline: null, change: expect.toSatisfy(hasNoHigh) },
    });
    expect(errors?.map(({ path }) => path?.[path[0] === 'history' ? 0 : 1]).sort()).toEqual([
      'candles',
      'change',
      'history',
      'sparkline',
    ]);
    expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['HISTORY_UNAVAILABLE']));
  });
});

/** The start of a window can be in memory, but not what happened in it. */
function hasNoHigh(change: { readonly high: number | null } | null): boolean {
  return change === null || change.high === null;
}

test('without a history, its fields are HISTORY_UNAVAILABLE', async () => {
  const { ask } = await startGatewayForTest();
  const { data, errors } = await ask(
    `{ history { heights } poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { price change { from } } }`,
  );
  expect(data).toEqual({ history: null, poolPair: { price: expect.any(Number), change: null } });
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['HISTORY_UNAVAILABLE', 'HISTORY_UNAVAILABLE']);
});

describe('candles as a subscription', () => {
  test('sends the candle under way at each height, and each one once more when it is closed', async () => {
    const gateway = await startGatewayForTest({ store: createStoreModel(), config: { historyBackfillHours: 0 } });
    await gateway.untilHeight(1);
    const { sandbox } = gateway;
    const first = sandbox.chain.tip.height;
    const id = [PRV, BTC].sort().join('-');
    const updates = gateway.subscribe(
      `subscription { candles(token1Id: "${BTC}", token2Id: "${PRV}", interval: ONE_MINUTE, decimals1: 0, decimals2: 0) { ${CANDLE} } }`,
    );
    const next = async () => (await updates.next()).value;
    const candlesNow = () => {
      const known = chainHeights(sandbox, first);
      return expectedCandles(known, id, 'ONE_MINUTE', sandbox.chain.tip.height).map((candle) =>
        shownCandle(candle, [0, 0]),
      );
    };
    expect(await next()).toEqual({ data: { candles: candlesNow().at(-1) } });
    let closed = candlesNow()
      .filter(({ isClosed }) => isClosed)
      .map(({ openTime }) => openTime);
    let sentClosed = 0;
    for (let block = 0; block < 15; block++) {
      sandbox.advance();
      const now = candlesNow();
      for (const candle of now.filter(({ isClosed, openTime }) => isClosed && !closed.includes(openTime))) {
        expect(await next()).toEqual({ data: { candles: candle } });
        sentClosed += 1;
      }
      expect(await next()).toEqual({ data: { candles: now.at(-1) } });
      closed = now.filter(({ isClosed }) => isClosed).map(({ openTime }) => openTime);
    }
    // A block is made each 40 s, so two of three heights begin a minute. The newest three are not final.
    expect(sentClosed).toBe(8);
    await updates.return(undefined);
  });

  test('stays open and reports while the history cannot be read', async () => {
    const store = createStoreModel();
    const gateway = await startGatewayForTest({ store, config: { historyBackfillHours: 0 } });
    await gateway.untilHeight(1);
    const updates = gateway.subscribe(
      `subscription { candles(token1Id: "${BTC}", token2Id: "${PRV}", interval: ONE_DAY) { lastHeight } }`,
    );
    const tip = () => gateway.sandbox.chain.tip.height;
    expect((await updates.next()).value?.data).toEqual({ candles: { lastHeight: tip() } });
    store.fail(new HistoryDatabaseError('locked'));
    gateway.sandbox.advance();
    const failed = (await updates.next()).value;
    expect([failed?.data, failed?.errors?.[0]?.extensions.code]).toEqual([null, 'HISTORY_UNAVAILABLE']);
    store.fail(undefined);
    gateway.sandbox.advance();
    expect((await updates.next()).value?.data).toEqual({ candles: { lastHeight: tip() } });
    await updates.return(undefined);
  });

  test.each([
    `candles(token1Id: "${BTC}", token2Id: "${NOBODYS}", interval: ONE_DAY) { open }`,
    `candles(token1Id: "${BTC}", token2Id: "${PRV}", interval: ONE_DAY, decimals1: 99) { open }`,
    `priceCrossed(token1Id: "${BTC}", token2Id: "${NOBODYS}", above: 1) { price }`,
    `priceCrossed(token1Id: "${BTC}", token2Id: "${PRV}") { price }`,
    `priceCrossed(token1Id: "${BTC}", token2Id: "${PRV}", above: null) { price }`,
    `priceCrossed(token1Id: "${BTC}", token2Id: "${PRV}", below: -1) { price }`,
  ])('%s is BAD_USER_INPUT', async (field) => {
    const gateway = await startGatewayForTest();
    await gateway.untilHeight(1);
    const { value } = await gateway.subscribe(`subscription { ${field} }`).next();
    expect(value?.errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'BAD_USER_INPUT' }]);
  });
});

describe('priceCrossed', () => {
  /** The prices of the pool at the heights after the start, from a sandbox with the same seed. */
  async function foresee(blocks: number): Promise<readonly number[]> {
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    sandbox.advance(blocks);
    const id = [PRV, BTC].sort().join('-');
    const decimals = [PRV, BTC].sort().map((each) => sandbox.chain.tokens.find(({ id }) => id === each)?.decimals ?? 0);
    const heads = chainHeights(sandbox, sandbox.chain.tip.height - blocks);
    return heads.map(
      (head) => priceOfToken2(reservesAt(head, id) as Reserves, decimals[0] ?? 0, decimals[1] ?? 0) as number,
    );
  }

  test('sends each crossing of a bound between a height and the one before, and nothing at the start', async () => {
    const prices = await foresee(20);
    const gateway = await startGatewayForTest();
    const { sandbox } = gateway;
    await gateway.ask('{ beaconHeight }');
    const start = sandbox.chain.tip.height;
    const crossingsOf = (bound: number) =>
      prices.flatMap((price, index) => {
        const previousPrice = prices[index - 1];
        const isAbove = price > bound;
        if (previousPrice === undefined || (isAbove ? previousPrice > bound : previousPrice < bound || price === bound))
          return [];
        return [{ bound, isAbove, price, previousPrice, poolPair: { beaconHeight: start + index, price } }];
      });
    // The price that is crossed most often.
    const [bound = 0] = prices.toSorted((a, b) => crossingsOf(b).length - crossingsOf(a).length);
    const expected = crossingsOf(bound);
    const query = `subscription { priceCrossed(token1Id: "${BTC}", token2Id: "${PRV}", above: ${bound}, below: ${bound}) { bound isAbove price previousPrice poolPair { beaconHeight price } } }`;
    const url = await gateway.app.listen(0, '127.0.0.1');
    const received: object[] = [];
    const subscribed = [connect(url), connect(url)].map((client) => {
      const updates = client.iterate({ query });
      (async () => {
        for await (const { priceCrossed } of dataOf(updates as AsyncIterable<Answer<{ priceCrossed: object }>>))
          received.push(priceCrossed);
      })().catch(() => {});
      return updates;
    });
    const { subscribers } = gateway.app.service.sources.head;
    await expect.poll(subscribers).toBe(2);
    for (let block = 0; block < 20; block++) await gateway.advance();
    expect(expected.length).toBeGreaterThan(1);
    await expect.poll(() => received.length).toBe(2 * expected.length);
    expect(received.filter((_, index) => index % 2 === 0)).toEqual(expected);
    for (const updates of subscribed) await updates.return?.(undefined);
  });
});

test('a price that crosses a bound while its pool has none is compared with the last one before', async () => {
  const crossed = `subscription ($above: Float!) {
    priceCrossed(token1Id: "${BTC}", token2Id: "${PRV}", above: $above, below: $above) {
      previousPrice price poolPair { beaconHeight }
    }
  }`;
  const priceQuery = `{ poolPair(token1Id: "${BTC}", token2Id: "${PRV}") { price } }`;
  const gateway = await startGatewayForTest();
  const priceOf = async () => (await gateway.ask(priceQuery)).data.poolPair.price;
  await gateway.ask('{ beaconHeight }');
  const previousPrice = await priceOf();
  // Any other price crosses its bound.
  const crossings = collect(gateway.subscribe(crossed, { above: previousPrice }), ({ priceCrossed }) => priceCrossed);
  await expect.poll(gateway.app.service.sources.head.subscribers).toBe(1);

  const path = ['Result', 'PDEPoolPairs', '*', 'Token1PoolValue'];
  const empty = gateway.sandbox.node.faults.set({ kind: 'shape', on: 'getpdestate', path, value: 0 });
  await gateway.advance();
  expect(await priceOf()).toBeNull();
  empty();
  await gateway.advance();
  const price = await priceOf();
  expect(price).not.toBe(previousPrice);
  const poolPair = { beaconHeight: gateway.sandbox.chain.tip.height };
  await expect.poll(() => crossings).toEqual([{ previousPrice, price, poolPair }]);
});

test('the length of an interval is that of its candles', () => {
  expect(Object.values(INTERVAL_MS)).toEqual([1, 5, 15, 60, 240, 1_440].map((minutes) => minutes * 60_000));
});
