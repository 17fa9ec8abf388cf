import { describe, expect, test } from 'vitest';
import { tradingPools } from '../../soak/expected/exchange.ts';
import { tradesOfBlock } from '../../soak/expected/trades.ts';
import { createJudge, type GraphqlResponse } from '../../soak/judge.ts';
import { createOutages, DAMAGED_TRADE } from '../../soak/outages.ts';
import { historyQuery } from '../../soak/queries/history.ts';
import { poolTradesQuery, tradesQuery } from '../../soak/queries/pool-trades.ts';
import { createTradesSubscription } from '../../soak/subscriptions/trades.ts';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { V3 } from './exchange-v3.ts';
import { startContext } from './soak-context.ts';

type Update = { trades: { time: string; previousHeight: number; trades: Record<string, unknown>[] } };

/** Subscribes to the trades of all pools. @returns what the judge finds in the next update, which can be falsified before */
function follow({ context, subscribe }: Awaited<ReturnType<typeof startContext>>) {
  const seeds = Array.from({ length: 50 }, (_, n) => createTradesSubscription(context, createRandom('trades', n)));
  const subscription = seeds.find(({ variables }) => variables?.['poolIds'] === undefined);
  const events = subscribe(subscription?.query ?? '', subscription?.variables);
  return async (falsify: (update: Update) => void = () => {}) => {
    const { data } = (await events.next()).value as GraphqlResponse;
    falsify(data as Update);
    return subscription?.check(data ?? {});
  };
}

async function subscribed(options = V3) {
  const started = await startContext(options);
  return { ...started, next: follow(started) };
}

describe('the soak test finds', () => {
  test('nothing in the right trades of blocks, also of one that replaces another, and of V1', async () => {
    const { context, next } = await subscribed();
    expect(await next()).toBeUndefined();
    for (let block = 0; block < 4; block++) {
      context.shown.advance();
      expect(await next()).toBeUndefined();
    }
    context.shown.replaceTip();
    expect(await next()).toBeUndefined();

    const { context: ofV1, next: nextOfV1 } = await subscribed({ isSandbox: false });
    expect(await nextOfV1()).toBeUndefined();
    ofV1.shown.advance();
    expect(await nextOfV1()).toBeUndefined();
  });

  const FALSIFIED: readonly [what: string, finding: string, falsify: (update: Update) => void][] = [
    ['a trade that is missing', 'trades instead of', ({ trades }) => void trades.trades.pop()],
    [
      'another amount',
      'trades[0] is',
      ({ trades: { trades } }) => void Object.assign(trades[0] ?? {}, { buyAmount: '1' }),
    ],
    [
      'another price',
      'the price of trades[0]',
      ({ trades: { trades } }) => void Object.assign(trades[0] ?? {}, { price: 1 }),
    ],
    [
      'another pool',
      'poolPair of trades[0]',
      ({ trades: { trades } }) => void Object.assign(trades[0] ?? {}, { poolPair: null }),
    ],
    ['another order', 'trades[0] is', ({ trades }) => void trades.trades.reverse()],
    ['another block', 'time 2020', ({ trades }) => void Object.assign(trades, { time: '2020-01-01T00:00:00.000Z' })],
    [
      'a height before that was not sent',
      'previousHeight 1 after',
      ({ trades }) => void Object.assign(trades, { previousHeight: 1 }),
    ],
  ];
  test('whatever is falsified in an update', async () => {
    const started = await startContext(V3);
    for (const [what, finding, falsify] of FALSIFIED) {
      const next = follow(started);
      expect(await next()).toBeUndefined();
      started.context.shown.advance();
      expect(await next(falsify), what).toContain(finding);
    }
  });

  test('a height that is skipped, although it was served', async () => {
    const { context, next } = await subscribed();
    await next();
    const { served, shown } = context;
    shown.advance();
    const now = performance.now();
    served.mismatch(shown.chain.tip.height, { sentAt: now, answeredAt: now, minHeight: 0 }, () => undefined);
    await next(({ trades }) => Object.assign(trades, { beaconHeight: shown.chain.tip.height - 1 }));
    shown.advance();
    expect(await next(({ trades }) => Object.assign(trades, { previousHeight: shown.chain.tip.height - 2 }))).toContain(
      'skipped',
    );
  });
});

describe('in the trades and volumes of pools, the soak test finds', () => {
  type Pool = {
    trades: { nodes: Record<string, unknown>[]; pageInfo: { hasNextPage: boolean } };
    volume: Record<string, unknown>;
  };
  const poolOf = ({ data }: GraphqlResponse) => (data as { pool: Pool }).pool;

  /** A gateway that has seen some blocks, and the pool with the most trades in them. */
  async function startTraded() {
    const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
    const started = await startContext({ ...V3, store });
    const { context, untilHeight } = started;
    const { shown } = context;
    for (let block = 0; block < 5; block++) {
      shown.advance();
      await untilHeight(shown.chain.tip.height);
    }
    const count = ({ id }: { id: string }) =>
      tradesOfBlock(shown.chain, shown.chain.tip).filter(({ poolId }) => poolId === id).length;
    const [pool] = tradingPools(shown.chain).toSorted((one, other) => count(other) - count(one));
    if (pool === undefined || count(pool) === 0) throw new Error('no pool was traded in the newest block');
    return { ...started, query: tradesQuery(context, { pool, hours: 1, first: 50 }) };
  }

  const FALSIFIED: readonly [what: string, finding: string, falsify: (pool: Pool) => unknown][] = [
    ['a trade of the newest block that is missing', 'are missing', ({ trades }) => trades.nodes.shift()],
    [
      'a trade that comes twice',
      'trades[1] is not of the chain',
      ({ trades: { nodes } }) => nodes.splice(1, 0, nodes[0] ?? {}),
    ],
    [
      'another amount',
      'trades of version',
      ({ trades: { nodes } }) => Object.assign(nodes[0] ?? {}, { sellAmount: '5' }),
    ],
    ['another pool', 'the pool of a trade', ({ trades: { nodes } }) => Object.assign(nodes[0] ?? {}, { poolPair: {} })],
    [
      'a page that is not full, with another one',
      'that is not the last one',
      ({ trades: { pageInfo } }) => Object.assign(pageInfo, { hasNextPage: true }),
    ],
    ['a volume above all trades', 'though at most', ({ volume }) => Object.assign(volume, { trades: 1_000_000 })],
    [
      'a volume that is complete only in name',
      'are missing',
      ({ volume }) => Object.assign(volume, { isComplete: true, trades: 0 }),
    ],
    [
      'a volume since another time',
      'a volume since 2020',
      ({ volume }) => Object.assign(volume, { isComplete: false, since: '2020-01-01' }),
    ],
  ];
  test('nothing in right responses, and whatever is falsified', async () => {
    const { context, judged, mismatchOf, untilHeight, query } = await startTraded();
    const mismatch = await judged(query);
    expect(mismatch()).toBeUndefined();
    for (const [what, finding, falsify] of FALSIFIED)
      expect(
        mismatch((answer) => void falsify(poolOf(answer))),
        what,
      ).toContain(finding);

    const random = createRandom('trades of pools');
    for (let block = 0; block < 3; block++) {
      for (let n = 0; n < 5; n++) expect(await mismatchOf(poolTradesQuery(context, random))).toBeUndefined();
      expect(await mismatchOf(historyQuery(context, random))).toBeUndefined();
      context.shown.advance();
      await untilHeight(context.shown.chain.tip.height);
    }
  });
});

describe('an error of a trade is wrong', () => {
  function judged(message: string, inject: (outages: ReturnType<typeof createOutages>) => void, field = 'trades') {
    const outages = createOutages(2);
    const judge = createJudge(outages, () => {});
    inject(outages);
    const extensions = { code: 'UPSTREAM_BAD_SHAPE', upstream: 'NODE' } as const;
    const errors = [{ message, path: ['pool', field], extensions }];
    judge.judgeErrors('someone', 'trades', errors, performance.now());
    return judge.counts.wrong.size;
  }
  const ofBoth = ({ beginOfTrades }: ReturnType<typeof createOutages>) =>
    [0, 1].forEach((node) => void beginOfTrades(node, 'hang'));

  test('unless no node sends blocks', () => {
    expect(judged('no', () => {})).toBe(1);
    expect(judged('no', ({ beginOfTrades }) => void beginOfTrades(1, 'hang'))).toBe(1);
    expect(judged('no', ofBoth)).toBe(0);
    expect(judged('no', ofBoth, 'price')).toBe(1);
  });

  test('unless a node has sent one that cannot be decoded', () => {
    const message = 'The node sent an invalid response: a trade of the block cannot be decoded.';
    expect(judged(message, ofBoth)).toBe(1);
    expect(judged(message, ({ beginOfTrades }) => void beginOfTrades(1, DAMAGED_TRADE))).toBe(0);
  });
});
