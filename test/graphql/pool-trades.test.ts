import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createHistoryStore } from '../../src/history/store-client.ts';
import {
  type Answer,
  startGateway,
  startGatewayForTest,
  type TestGateway,
  type TestGatewayOptions,
} from '../support/gateway.ts';
import { type Hop, hopsOf } from '../support/node-trades.ts';
import { until } from '../support/until.ts';

const BLOCK_CALL = 'retrievebeaconblockbyheight';
const HOUR = 3_600_000;
const TRADE = `id transactionId beaconHeight time poolPair { id } sellToken { tokenId } buyToken { tokenId }
  sellAmount buyAmount step`;
const VOLUME = 'token1 token2 trades since isComplete';

/** A gateway with V3, whose trades are recorded from its first head on. */
function tradedOptions(options: TestGatewayOptions = {}): TestGatewayOptions {
  const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
  const config = { historyBackfillHours: 0, tradesBackfillHours: 0, ...options.config };
  return { store, ...options, sandbox: { exchange: 'v3', history: 30, pools: 20 }, config };
}

/** The trades of one pool. */
const ofPool = (hops: readonly Hop[], poolId: string) => hops.filter((hop) => hop.poolId === poolId);
const absolute = (amount: bigint) => (amount < 0n ? -amount : amount);

/** What trades moved of both tokens. */
function sumsOf(hops: readonly Hop[]) {
  const [token1, token2] = ([0, 1] as const).map((side) =>
    String(hops.reduce((sum, { change }) => sum + absolute(change[side]), 0n)),
  );
  return { token1, token2, trades: hops.length };
}

/** What a trade must look like. @param poolPair the id of its pool */
function shown({ height, time, transactionId, step, poolId, change }: Hop, poolPair = `PoolPair:${poolId}`) {
  const tokens = poolId.split('-').slice(0, 2);
  const [sold, bought] = change[0] > 0n ? [0, 1] : [1, 0];
  return {
    id: `Trade:${height}:${transactionId}:${step}`,
    transactionId,
    beaconHeight: height,
    time: new Date(time).toISOString(),
    poolPair: { id: poolPair },
    sellToken: { tokenId: tokens[sold ?? 0] },
    buyToken: { tokenId: tokens[bought ?? 1] },
    sellAmount: String(absolute(change[sold as 0 | 1])),
    buyAmount: String(absolute(change[bought as 0 | 1])),
    step,
  };
}

const codesOf = ({ errors = [] }: Answer) => errors.map(({ extensions }) => extensions.code);
const cursor = (text: string, encoding: BufferEncoding = 'base64url') => Buffer.from(text).toString(encoding);

describe('the trades of pools', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let first: number;
  /** The pool with the most trades. */
  let poolId: string;
  const ask = (fields: string, at?: number) =>
    gateway.ask(`{ pool(poolId: "${poolId}"${at === undefined ? '' : `, at: ${at}`}) { ${fields} } }`);
  const timeOf = (height: number) => (gateway.sandbox.chain.block(height)?.time ?? 0) * 1_000;
  /** All trades up to a height, by default up to the newest one. */
  const hops = (to?: number) => hopsOf(gateway.sandbox, first, to);
  /** Waits until the trades of all final blocks are recorded. */
  const untilRecorded = () =>
    until(() => {
      const known = gateway.app.service.sources.history.status().tradeCoverage;
      return known !== undefined && known.first.beaconHeight + known.blocks > gateway.sandbox.chain.tip.height - 3;
    });

  beforeAll(async () => {
    gateway = await startGateway(tradedOptions());
    await gateway.advance();
    first = gateway.sandbox.chain.tip.height;
    // An hour has 90 blocks. The newest ones are in memory, and the others are recorded.
    const { chain } = gateway.sandbox;
    while (timeOf(chain.tip.height) - timeOf(first) < HOUR + 120_000) await gateway.advance();
    await untilRecorded();
    const counts = Map.groupBy(await hops(), (hop) => hop.poolId);
    [poolId] = [...counts].sort(([, a], [, b]) => b.length - a.length)[0] as [string, Hop[]];
    return gateway.close;
  });

  test('are those of the blocks, newest first', async () => {
    const expected = ofPool(await hops(), poolId).toReversed();
    expect(expected.length).toBeGreaterThan(10);
    const { data } = await ask(
      `trades { nodes { ${TRADE} } edges { node { id } } pageInfo { hasNextPage hasPreviousPage } }`,
    );
    expect(data.pool.trades.nodes.slice(0, expected.length)).toEqual(expected.slice(0, 50).map((hop) => shown(hop)));
    expect(data.pool.trades.edges.map(({ node }: { node: { id: string } }) => node.id)).toEqual(
      data.pool.trades.nodes.map(({ id }: { id: string }) => id),
    );
    expect(data.pool.trades.pageInfo.hasPreviousPage).toBe(false);
  });

  test('come in pages whose cursors survive new trades', async () => {
    const found: unknown[] = [];
    let after: string | null = null;
    const before = await hops();
    for (let page = 0; page < 4; page++) {
      const { data } = await ask(
        `trades(first: 3, after: ${JSON.stringify(after)}) { nodes { ${TRADE} } pageInfo { endCursor hasNextPage hasPreviousPage } }`,
      );
      const { nodes, pageInfo } = data.pool.trades;
      found.push(...nodes);
      after = pageInfo.endCursor;
      expect(pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: page > 0 });
      if (page === 1) await gateway.advance();
    }
    const newest = ofPool(before, poolId).toReversed().slice(0, 12);
    expect(found).toEqual(newest.map((hop) => shown(hop)));
  });

  test.each([
    'trades(first: -1) { nodes { id } }',
    'trades(first: 501) { nodes { id } }',
    'trades(first: 2147483647) { nodes { id } }',
    ...['', 'x', cursor('1:-1'), cursor('01:0'), cursor('9999999999999999:0'), cursor('12:0', 'base64')].map(
      (after) => `trades(after: "${after}") { nodes { id } }`,
    ),
    'volume(hours: 0) { trades }',
    'volume(hours: 9000) { trades }',
  ])('are BAD_USER_INPUT with bad arguments: %s', async (field) => {
    expect(codesOf(await ask(field))).toEqual(['BAD_USER_INPUT']);
  });

  test('are none on an empty page, and after the first trade', async () => {
    const empty = { nodes: [], pageInfo: { hasNextPage: true, startCursor: null, endCursor: null } };
    const fields = 'nodes { id } pageInfo { hasNextPage startCursor endCursor }';
    expect((await ask(`trades(first: 0) { ${fields} }`)).data.pool.trades).toEqual(empty);
    expect((await ask(`trades(after: "${cursor('1:0')}") { ${fields} }`)).data.pool.trades).toEqual({
      ...empty,
      pageInfo: { ...empty.pageInfo, hasNextPage: false },
    });
  });

  test('of a past height have nothing before them if the cursor is of a later one', async () => {
    const { height: tip } = gateway.sandbox.chain.tip;
    const fields = `trades(first: 1, after: "${cursor(`${tip}:0`)}") { pageInfo { hasPreviousPage } }`;
    expect((await ask(fields, tip - 1)).data.pool.trades).toEqual({ pageInfo: { hasPreviousPage: false } });
    expect((await ask(fields)).data.pool.trades).toEqual({ pageInfo: { hasPreviousPage: true } });
  });

  test('of a past height are those up to it, of the recorded blocks and of those in memory', async () => {
    const { height: tip } = gateway.sandbox.chain.tip;
    for (const at of [first + 5, tip - 1]) {
      const { data } = await ask(`trades { nodes { ${TRADE} } } volume { ${VOLUME} }`, at);
      const expected = ofPool(await hops(at), poolId);
      const ids = expected.toReversed().map((hop) => shown(hop, `PoolPair:${poolId}@${at}`));
      expect(data.pool.trades.nodes.slice(0, ids.length)).toEqual(ids.slice(0, 50));
    }
  });

  test('make its volume: the sum of a window, and since when it is known', async () => {
    const { height: tip } = gateway.sandbox.chain.tip;
    const { data } = await gateway.ask(`{ poolPairs(first: 500) { nodes { poolId volume { ${VOLUME} } } } }`);
    const since = data.poolPairs.nodes[0].volume.since;
    const known = await hopsOf(gateway.sandbox, first - 1);
    const fromHeight = [first - 1, first].find((height) => new Date(timeOf(height)).toISOString() === since);
    const all = known.filter(({ height }) => height >= (fromHeight ?? tip));
    for (const { poolId: id, volume } of data.poolPairs.nodes)
      expect(volume).toEqual({ ...sumsOf(ofPool(all, id)), since, isComplete: false });
    expect(all.length).toBeGreaterThan(30);
  });

  test('are complete once the window is known', async () => {
    const after = timeOf(gateway.sandbox.chain.tip.height) - HOUR;
    await untilRecorded();
    const inWindow = (await hops()).filter((hop) => hop.time > after);
    const { data } = await gateway.ask(`{ poolPairs(first: 500) { nodes { poolId volume(hours: 1) { ${VOLUME} } } } }`);
    for (const { poolId: id, volume } of data.poolPairs.nodes)
      expect(volume).toEqual({
        ...sumsOf(ofPool(inWindow, id)),
        since: new Date(after).toISOString(),
        isComplete: true,
      });
  });

  test('are found by their ids, those in memory and those that are recorded', async () => {
    const { height: tip } = gateway.sandbox.chain.tip;
    const all = await hops();
    const some = [all[0], all.find(({ height }) => height > first + 7), all.at(-1)].map((hop) => shown(hop as Hop));
    const { data, errors } = await gateway.ask(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Trade { ${TRADE} } } }`,
      { ids: some.map(({ id }) => id) },
    );
    expect(errors).toBeUndefined();
    expect(data.nodes).toEqual(some);
    const find = (height: number) => gateway.ask(`{ node(id: "Trade:${height}:${'a'.repeat(64)}:0") { id } }`);
    expect(await find(first + 3)).toEqual({ data: { node: null } });
    expect(await find(tip)).toEqual({ data: { node: null } });
    const message = `The trades of the block at beacon height ${first - 10} are not recorded.`;
    const extensions = { code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: tip };
    expect((await find(first - 10)).errors).toEqual([expect.objectContaining({ message, extensions })]);
  });

  test('give tickers the price of the newest one', async () => {
    const all = await hops();
    const { chain } = gateway.sandbox;
    const { data } = await gateway.ask(
      '{ tickers { poolId tradedPrice } pairs { poolId divergence { poolPrice tradedPrice tradedPercent } } }',
    );
    let priced = 0;
    for (const [index, { poolId: id, tradedPrice }] of data.tickers.entries()) {
      const market = chain.markets.find((each) => each.poolId === id);
      const last = ofPool(all, id).at(-1);
      const { divergence } = data.pairs[index];
      if (market === undefined || last === undefined) continue;
      const [token1, token2] = id.split('-');
      const decimalsOf = (tokenId: string) => chain.tokens.find((token) => token.id === tokenId)?.decimals ?? 0;
      const wholes = last.change.map(
        (change, side) => Number(absolute(change)) / 10 ** decimalsOf([token1, token2][side] ?? ''),
      );
      const [base = 0, target = 0] = market.base.id === token1 ? wholes : wholes.toReversed();
      expect(tradedPrice).toBeCloseTo(target / base, 12);
      expect(divergence.tradedPrice).toBe(tradedPrice);
      expect(divergence.tradedPercent).toBeCloseTo(100 * (tradedPrice / divergence.poolPrice - 1), 9);
      priced += 1;
    }
    expect(priced).toBeGreaterThan(5);
  });

  test('make the volumes of candles exact where all are known', async () => {
    const all = ofPool(await hops(), poolId);
    const fields = 'openTime closeTime firstHeight lastHeight tradedToken1 tradedToken2 isVolumeExact isComplete';
    for (const interval of ['ONE_MINUTE', 'FIFTEEN_MINUTES']) {
      const { data, errors } = await ask(`candles(interval: ${interval}, last: 500) { ${fields} }`);
      expect(errors).toBeUndefined();
      let exact = 0;
      for (const candle of data.pool.candles) {
        // Older blocks of the first interval are not known.
        if (!candle.isVolumeExact) expect(Date.parse(candle.openTime)).toBeLessThanOrEqual(timeOf(first));
        if (!candle.isVolumeExact) continue;
        const inInterval = all.filter(
          ({ time }) => time >= Date.parse(candle.openTime) && time < Date.parse(candle.closeTime),
        );
        const { token1, token2 } = sumsOf(inInterval);
        expect(candle).toMatchObject({ tradedToken1: token1, tradedToken2: token2 });
        exact += 1;
      }
      expect(exact).toBeGreaterThanOrEqual(interval === 'ONE_MINUTE' ? 60 : 3);
    }
  });

  test('are read once for all clients at a head, and together for the pools of a page at another height', async () => {
    const { history } = gateway.app.service.sources;
    await gateway.advance();
    await untilRecorded();
    const { height } = gateway.sandbox.chain.tip;
    const volumes = vi.spyOn(history, 'volumes');
    const trades = vi.spyOn(history, 'trades');
    onTestFinished(() => void vi.restoreAllMocks());
    const page = (name: string, args: string) =>
      gateway.ask(`{ ${name}: poolPairs(first: 500${args}) { nodes { volume { trades } } } tickers { tradedPrice } }`);
    for (const name of ['a', 'b', 'c']) await page(name, '');
    expect(volumes).toHaveBeenCalledTimes(1);
    expect(trades.mock.calls.length).toBeLessThanOrEqual(1);
    const other = `{ pool(poolId: "${poolId}") { volume(hours: 2) { trades } } }`;
    await gateway.ask(other);
    expect(volumes.mock.calls.slice(1)).toMatchObject([[{ poolIds: [poolId] }]]);
    await page('d', `, at: ${height - 20}`);
    // The executor yields within a long page.
    expect(volumes.mock.calls.length).toBeLessThanOrEqual(5);
  });

  test('make the volumes of the candles that a subscription sends exact', async () => {
    const [token1Id, token2Id] = poolId.split('-');
    const updates = gateway.subscribe(
      `subscription { candles(token1Id: "${token1Id}", token2Id: "${token2Id}", poolId: "${poolId}", interval: ONE_HOUR) { openTime isVolumeExact tradedToken1 } }`,
    );
    const { value } = await updates.next();
    await updates.return(undefined);
    const { openTime } = value?.data.candles ?? {};
    const inHour = ofPool(await hops(), poolId).filter(({ time }) => time >= Date.parse(openTime));
    const { token1: tradedToken1 } = sumsOf(inHour);
    expect(value?.data.candles).toEqual({ openTime, isVolumeExact: true, tradedToken1 });
  });

  /** The ids of the trades of a height that the gateway lists. */
  async function tradesAt(
    height: number,
    { ask: askIt }: Pick<TestGateway, 'ask'> = gateway,
  ): Promise<readonly string[]> {
    const { data } = await askIt('{ poolPairs(first: 500) { nodes { trades(first: 20) { nodes { id } } } } }');
    // biome-ignore lint/suspicious/noExplicitAny: a row of an untyped query
    const ids = data.poolPairs.nodes.flatMap(({ trades }: any) => trades.nodes.map(({ id }: { id: string }) => id));
    return ids.filter((id: string) => id.startsWith(`Trade:${height}:`)).toSorted();
  }

  test('that are replaced with their block are in no later answer', async () => {
    gateway.sandbox.replaceTip();
    const { height } = gateway.sandbox.chain.tip;
    const expected = (await hopsOf(gateway.sandbox, height)).map((hop) => shown(hop).id).toSorted();
    await expect.poll(() => tradesAt(height)).toEqual(expected);
    const { data } = await ask(`volume(hours: 1) { ${VOLUME} }`);
    const after = timeOf(height) - HOUR;
    const inWindow = ofPool(await hops(), poolId).filter(({ time }) => time > after);
    expect(data.pool.volume).toMatchObject({ ...sumsOf(inWindow), isComplete: true });
  });

  test('that are replaced while the gateway skips heights are in no later answer', async () => {
    // The trades of skipped heights are not known, so that it is another gateway.
    const other = await startGatewayForTest(tradedOptions());
    const { sandbox, advance } = other;
    await other.untilReady();
    while ((await tradesAt(sandbox.chain.tip.height, other)).length === 0) await advance();
    const { height } = sandbox.chain.tip;
    const replaced = await tradesAt(height, other);
    sandbox.replaceTip();
    const expected = (await hopsOf(sandbox, height)).map((hop) => shown(hop).id).toSorted();
    expect(expected).not.toEqual(replaced);
    await advance(2);
    expect(expected).toEqual(expect.arrayContaining([...(await tradesAt(height, other))]));
    await advance(3);
    await expect.poll(() => tradesAt(height, other)).toEqual(expected);
  });
});

test('a block is read once for all queries, also if fewer heights are stored for resuming than are not recorded', async () => {
  const { ask, advance, sandbox, untilReady } = await startGatewayForTest(
    tradedOptions({ config: { maxResumedHeights: 1 } }),
  );
  await untilReady();
  const first = sandbox.chain.tip.height;
  for (let block = 0; block < 5; block++) await advance();
  for (const pools of [1, 2]) {
    const { errors } = await ask(`{ poolPairs(first: ${pools}) { nodes { trades { nodes { id } } } } }`);
    expect(errors).toBeUndefined();
  }
  expect(sandbox.node.calls(BLOCK_CALL)).toBe(sandbox.chain.tip.height - first + 1);
});

describe('where trades are not known', () => {
  const FIELDS = `trades { nodes { id } } volume { ${VOLUME} } candles(interval: ONE_HOUR) { isVolumeExact tradedToken1 }`;
  const QUERY = `{ poolPairs(first: 1) { nodes { price ${FIELDS} } } tickers { tradedPrice } }`;

  test('a node that refuses the call leaves out these fields alone', async () => {
    const { ask, advance, sandbox } = await startGatewayForTest(tradedOptions());
    const clear = sandbox.node.faults.set({ kind: 'status', status: 500, body: '', on: BLOCK_CALL });
    await advance();
    await expect.poll(async () => (await ask('{ history { heights } }')).errors).toBeUndefined();
    const answer = await ask(QUERY);
    expect(new Set(codesOf(answer))).toEqual(new Set(['UPSTREAM_BAD_STATUS']));
    const [pool] = answer.data.poolPairs.nodes;
    expect(pool).toMatchObject({ trades: null, volume: null });
    expect(pool.price).not.toBeNull();
    for (const { isVolumeExact } of pool.candles) expect(isVolumeExact).toBe(false);

    clear();
    await advance();
    const after = await ask(QUERY);
    expect(after.errors).toBeUndefined();
    expect(after.data.poolPairs.nodes[0].volume.isComplete).toBe(false);
  });

  test('a history that is off is an error, and V1 has none', async () => {
    const off = await startGatewayForTest({ sandbox: { exchange: 'v3', history: 30 } });
    const answer = await off.ask('{ poolPairs(first: 1) { nodes { trades { nodes { id } } volume { trades } } } }');
    expect(codesOf(answer)).toEqual(['HISTORY_UNAVAILABLE', 'HISTORY_UNAVAILABLE']);

    const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
    const v1 = await startGatewayForTest({ store });
    await v1.untilReady();
    await v1.advance();
    const { data, errors } = await v1.ask(QUERY);
    expect(errors).toBeUndefined();
    expect(data.poolPairs.nodes[0]).toMatchObject({ trades: null, volume: null });
    for (const { isVolumeExact } of data.poolPairs.nodes[0].candles) expect(isVolumeExact).toBe(false);
    for (const { tradedPrice } of data.tickers) expect(tradedPrice).toBeNull();
    expect(v1.sandbox.node.calls(BLOCK_CALL)).toBe(0);
  });
});
