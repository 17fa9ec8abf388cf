import { expect, test } from 'vitest';
import { poolPairAt } from '../../src/domain/exchange.ts';
import { ExchangeSwaps } from '../../src/domain/exchange-swaps.ts';
import { toPoolGraph } from '../../src/domain/pool-graph.ts';
import { poolPairId } from '../../src/domain/pool-pair.ts';
import { TradeRefusedError } from '../../src/errors.ts';
import { QuoteLoader } from '../../src/loaders/quote.ts';
import { A, B, C, poolOfV3, stateOfV3 } from '../domain/v3-pools.ts';

const M = 10n ** 6n;
const [ab, bc] = [poolOfV3([A, B], [M, M]), poolOfV3([B, C], [M, M])];
/** It sells 500 of token B for 400 of token A. */
const order = { id: 'f'.repeat(64), sells: 2, rate1: 400n, rate2: 500n, balance1: 0n, balance2: 500n } as const;

/** The quotes of a state that an old node sent without orders, and the pools whose orders were read. */
function createLoader() {
  const exchange = stateOfV3([ab, bc].map((pool) => ({ ...pool, v3: pool.v3 && { ...pool.v3, orders: undefined } })));
  const [graph, swaps, read] = [toPoolGraph(exchange.directory), new ExchangeSwaps(exchange), [] as string[]];
  const loader = new QuoteLoader({
    allPools: () => ({ exchange, graph: () => graph, swaps: () => swaps, at: (place) => poolPairAt(exchange, place) }),
    ordersOf: async (pool) => {
      read.push(poolPairId(pool));
      return poolPairId(pool) === poolPairId(ab) ? [order] : [];
    },
  });
  return { loader, read };
}

test('if a node sends no orders with a state, those of the pools of the route are read', async () => {
  const { loader, read } = createLoader();
  const trade = { sellTokenId: A, buyTokenId: B, sellAmount: 400n };
  expect(await loader.find(trade)).toMatchObject({ buyAmount: 500n });
  expect(read).toEqual([poolPairId(ab)]);
  const route = [poolPairId(ab), poolPairId(bc)];
  const along = await loader.find({ ...trade, buyTokenId: C, route });
  expect(along?.route.map(({ buyAmount }) => buyAmount)).toEqual([500n, 499n]);
  expect(read.slice(1)).toEqual(route);
});

test('a trade that the orders would refuse is null, or the error of the given route', async () => {
  const { loader } = createLoader();
  // One unit more than fills the order buys nothing on the curve.
  const trade = { sellTokenId: A, buyTokenId: B, sellAmount: 401n };
  expect(await loader.find(trade)).toBeUndefined();
  await expect(loader.find({ ...trade, route: [poolPairId(ab)] })).rejects.toThrow(TradeRefusedError);
  expect(await loader.find({ sellTokenId: A, buyTokenId: 'f'.repeat(64), sellAmount: 1n })).toBeUndefined();
});
