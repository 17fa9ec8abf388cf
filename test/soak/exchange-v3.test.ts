import { describe, expect, test } from 'vitest';
import type { GraphqlResponse } from '../../soak/judge.ts';
import { chartQuery } from '../../soak/queries/chart.ts';
import { depthQuery } from '../../soak/queries/depth.ts';
import { headQuery, poolQuery } from '../../soak/queries/heads.ts';
import { tickerQuery } from '../../soak/queries/market.ts';
import { nodesQuery } from '../../soak/queries/nodes.ts';
import { pastHeightsQuery } from '../../soak/queries/past-heights.ts';
import { poolOrdersQuery } from '../../soak/queries/pool-orders.ts';
import { quoteQuery } from '../../soak/queries/quote.ts';
import { serviceQuery } from '../../soak/queries/service.ts';
import { createPricesSubscription } from '../../soak/subscriptions/prices.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { NEVER_MS } from '../support/gateway.ts';
import { V3 } from './exchange-v3.ts';
import { startContext } from './soak-context.ts';

const QUERIES = [
  ...[headQuery, poolQuery, nodesQuery, poolOrdersQuery, serviceQuery, pastHeightsQuery, pastHeightsQuery],
  ...[tickerQuery, depthQuery, quoteQuery, quoteQuery],
];

describe('where V3 trades, the soak test finds', () => {
  test('nothing in correct responses', async () => {
    // A chart reads all earlier heights at once.
    const options = { sandbox: { ...V3.sandbox, history: 40 }, config: { upstreamTimeoutMs: NEVER_MS } };
    const { context, mismatchOf, untilHeight } = await startContext({ ...V3, ...options });
    const random = createRandom('right');
    for (let block = 0; block < 3; block++) {
      context.shown.advance();
      await untilHeight(context.shown.chain.tip.height);
      for (const query of QUERIES) expect(await mismatchOf(query(context, random))).toBeUndefined();
    }
    expect(await mismatchOf(chartQuery(context, random, { page: 0, step: 1 }))).toBeUndefined();
  });

  test('another amount or rate of a pool, a quote that is one unit too good, and one that sells a unit too much', async () => {
    const { context, judged, mismatchOf, untilHeight } = await startContext(V3);
    await untilHeight(context.shown.chain.tip.height);
    const mismatchOfHead = await judged(headQuery(context, createRandom('false')));
    for (const name of ['token1VirtualValue', 'token2PoolValue', 'amplifier', 'feeRateBps', 'shareAmount']) {
      const mismatch = mismatchOfHead(({ data }) => {
        const [pool] = (data as { poolPairs: { nodes: Record<string, string | number>[] } }).poolPairs.nodes;
        const value = pool?.[name];
        if (pool) pool[name] = typeof value === 'number' ? value + 1 : String(BigInt(value ?? 0) + 1n);
      });
      expect(mismatch, name).toContain('poolPairs[0] is');
    }

    const random = createRandom('quote');
    const found = { buyAmount: 0, sellAmount: 0 };
    for (let n = 0; n < 40 && (found.buyAmount < 3 || found.sellAmount < 3); n++) {
      let isFalse = false;
      const query = quoteQuery(context, random);
      const name = query.query.includes('buyAmount: $amount') ? 'sellAmount' : 'buyAmount';
      const mismatch = await mismatchOf(query, ({ data }) => {
        const { now } = data as { now: Record<typeof name, string> | null };
        isFalse = now !== null;
        if (now) now[name] = String(BigInt(now[name]) + 1n);
      });
      if (!isFalse) expect(mismatch).toBeUndefined();
      if (name === 'buyAmount') expect(mismatch === undefined).toBe(!isFalse);
      if (mismatch !== undefined) found[name] += 1;
    }
    expect(Math.min(found.buyAmount, found.sellAmount)).toBe(3);
  });

  test('an order that is missing, and orders in another order', async () => {
    const { context, judged, untilHeight } = await startContext(V3);
    await untilHeight(context.shown.chain.tip.height);
    const ordersOf = ({ data }: GraphqlResponse) => (data as { pool: { orders: unknown[] } | null }).pool?.orders ?? [];
    const random = createRandom('orders');
    const changes: readonly ((orders: unknown[]) => unknown)[] = [
      (orders) => orders.pop(),
      (orders) => orders.reverse(),
    ];
    let found = 0;
    for (let n = 0; n < 20 && found <= 5 * changes.length; n++) {
      const mismatch = await judged(poolOrdersQuery(context, random));
      for (const change of changes) {
        let count = 0;
        const finding = mismatch((answer) => {
          count = ordersOf(answer).length;
          if (count > 1) change(ordersOf(answer));
        });
        expect(finding === undefined).toBe(count <= 1);
        if (finding !== undefined) found += 1;
      }
    }
    expect(found).toBeGreaterThan(5 * changes.length);
  });

  // At every 360th height, fee rates change.
  test.each([
    ['amounts', {}],
    ['fee rates', { startHeight: 2_150_279, tradesPerBlock: 0 }],
  ])('a pool that is sent as changed and is not, and one that is left out: %s', async (_what, sandboxOptions) => {
    const { context, subscribe, sandbox } = await startContext({
      ...V3,
      sandbox: { ...V3.sandbox, history: 40, ...sandboxOptions },
    });
    const isOfAll = (seed: number) => {
      const { kind, variables } = createPricesSubscription(context, createRandom('all', seed));
      return kind === 'prices that changed' && !variables?.['tokenIds'] && !variables?.['poolPairs'];
    };
    const seed = Array.from({ length: 100 }, (_, n) => n).find(isOfAll) ?? 0;
    const [right, wrong] = [1, 2].map(() => createPricesSubscription(context, createRandom('all', seed)));
    const events = subscribe(right?.query ?? '', right?.variables);
    const next = async () => (await events.next()).value?.data as { prices: { poolPairs: unknown[] } };
    const first = await next();
    expect(right?.check(first)).toBeUndefined();
    expect(wrong?.check(first)).toBeUndefined();
    context.shown.advance();
    const second = await next();
    expect(second.prices.poolPairs.length).toBeLessThan(sandbox.chain.v3Pools.length);
    expect(right?.check(second)).toBeUndefined();
    second.prices.poolPairs.pop();
    expect(wrong?.check(second)).toContain('poolPairs');
    await events.return(undefined);
  });
});
