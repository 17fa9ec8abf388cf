import { describe, expect, onTestFinished, test } from 'vitest';
import type { SoakContext } from '../../soak/context.ts';
import type { GraphqlResponse, Operation } from '../../soak/judge.ts';
import { depthQuery } from '../../soak/queries/depth.ts';
import { headQuery } from '../../soak/queries/heads.ts';
import { historyQuery } from '../../soak/queries/history.ts';
import { tickerQuery, tickersQuery } from '../../soak/queries/market.ts';
import { pastHeightsQuery } from '../../soak/queries/past-heights.ts';
import { poolOrdersQuery } from '../../soak/queries/pool-orders.ts';
import { poolTradesQuery } from '../../soak/queries/pool-trades.ts';
import { quoteQuery } from '../../soak/queries/quote.ts';
import { tickersRequest } from '../../soak/queries/rest.ts';
import { tradesRequest } from '../../soak/queries/rest-trades.ts';
import { createHeadSubscription } from '../../soak/subscriptions/head.ts';
import { createTradesSubscription } from '../../soak/subscriptions/trades.ts';
import { checkUpdate } from '../../soak/websocket-client.ts';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { createRandom, type Random } from '../../src/sandbox/chain/random.ts';
import { V3 } from './exchange-v3.ts';
import { startContext } from './soak-context.ts';

type Query = (context: SoakContext, random: Random) => Operation;
type Row = Record<string, unknown>;

/** A query, the path of a field, and what it is falsified with. */
type Case = readonly [query: Query, path: readonly string[], value?: unknown];

const FIELDS: readonly Case[] = [
  [headQuery, ['service']],
  [headQuery, ['chainInfo']],
  [headQuery, ['bestBlock']],
  [headQuery, ['poolPairs']],
  [headQuery, ['poolPair']],
  [pastHeightsQuery, ['all']],
  [pastHeightsQuery, ['late']],
  [pastHeightsQuery, ['late', 'pairs'], []],
  [tickersQuery, ['tickers']],
  [tickersQuery, ['pairs']],
  [tickerQuery, ['ticker']],
  [tickerQuery, ['orderBook']],
  [tickerQuery, ['pair']],
  [depthQuery, ['pair']],
  [depthQuery, ['pair', 'orderBook']],
  [depthQuery, ['pair', 'ticker']],
  [historyQuery, ['poolPair']],
  [historyQuery, ['poolPair', 'candles'], []],
];
const FIELDS_OF_V3: readonly Case[] = [
  [poolOrdersQuery, ['pool']],
  [poolOrdersQuery, ['pool', 'orders']],
  [poolTradesQuery, ['pool']],
  [poolTradesQuery, ['ticker']],
];

/** Replaces a field that is not empty. @returns whether there was one */
function replace({ data }: GraphqlResponse, path: readonly string[], value: unknown): boolean {
  const parent = path.slice(0, -1).reduce<Row | undefined>((row, name) => row?.[name] as Row, data as Row);
  const name = path.at(-1) ?? '';
  const before = parent?.[name] as unknown[] | object | null | undefined;
  if (!parent || before == null || (Array.isArray(before) && before.length === 0)) return false;
  parent[name] = value;
  return true;
}

describe.each([
  ['V1', {}, FIELDS],
  ['V3', V3, [...FIELDS, ...FIELDS_OF_V3]],
] as const)('in %s', (_, options, fields) => {
  test('the soak test finds each field that is null or empty without an error', async () => {
    const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
    const { context, judged, untilHeight } = await startContext({ ...options, store });
    await untilHeight(context.shown.chain.tip.height);
    const random = createRandom('missing');
    const accepted: unknown[] = [];
    const left = new Set<Case>(fields);
    for (const query of new Set(fields.map(([each]) => each))) {
      for (let n = 0; n < 12 && [...left].some(([each]) => each === query); n++) {
        const mismatch = await judged(query(context, random));
        expect(mismatch()).toBeUndefined();
        for (const field of [...left].filter(([each]) => each === query)) {
          const [, path, value = null] = field;
          const finding = mismatch((answer) => {
            if (replace(answer, path, value)) left.delete(field);
          });
          if (!left.has(field) && finding === undefined) accepted.push(path);
        }
      }
    }
    expect([accepted, [...left]]).toEqual([[], []]);
  });

  test('the soak test finds a quote that is missing, of another height or of another sold amount', async () => {
    const { context, judged, untilHeight } = await startContext(options);
    await untilHeight(context.shown.chain.tip.height);
    const random = createRandom('no quote');
    for (const amount of ['sellAmount: $amount', 'buyAmount: $amount']) {
      for (const name of ['now', 'earlier']) {
        let found = 0;
        for (let n = 0; n < 40 && found < 2; n++) {
          const query = quoteQuery(context, random);
          if (!query.query.includes(amount)) continue;
          let isFalse = false;
          const mismatch = await judged(query);
          for (const change of [null, { beaconHeight: 1 }, { sellAmount: '7' }]) {
            const finding = mismatch(({ data }) => {
              const quote = data?.[name] as Row | null;
              isFalse = quote !== null;
              Object.assign(data as Row, { [name]: change && quote && { ...quote, ...change } });
            });
            expect([amount, name, change, finding === undefined]).toEqual([amount, name, change, !isFalse]);
          }
          if (isFalse) found += 1;
        }
        expect([amount, name, found]).toEqual([amount, name, 2]);
      }
    }
  });
});

test('the soak test finds a REST document without its height, unless a gateway has just started', async () => {
  const { context } = await startContext(V3);
  const { shown, outages } = context;
  const judged = (replicas: number, minHeight = context.served.start + 1) => {
    const now = performance.now();
    const times = { sentAt: now, answeredAt: now, minHeight };
    const ofReplicas = { ...context, replicas };
    const tickers = shown.since(0)[0]?.tickers;
    return [
      tickersRequest(ofReplicas).operation.check?.({ tickers, poolPrices: [] }, times),
      tradesRequest(ofReplicas, createRandom('trades')).operation.check?.({ sides: { buy: [], sell: [] } }, times),
    ];
  };
  const wrong = Array(2).fill('a document without x-pdex-height');
  const right = [undefined, undefined];
  expect([judged(1), judged(3), judged(1, context.served.start)]).toEqual([wrong, wrong, right]);
  const end = outages.beginOfFleet('gateway cut off from the nodes');
  onTestFinished(end);
  expect([judged(1), judged(3)]).toEqual([wrong, right]);
});

test('the soak test finds an update with neither data nor errors, which is none of an error either', async () => {
  const { context } = await startContext(V3);
  for (const create of [createHeadSubscription, createTradesSubscription]) {
    const subscription = create(context, createRandom('updates'));
    checkUpdate(context, 'a client', subscription, { data: null });
    expect(subscription.hasFailed?.() ?? false).toBe(false);
  }
  expect(Object.fromEntries(context.judge.counts.wrong)).toEqual({ 'neither data nor errors': 2 });
});
