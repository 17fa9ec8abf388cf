import { describe, expect, test } from 'vitest';
import type { PoolOrder } from '../../src/domain/pool-order.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { toTokenList } from '../../src/domain/token.ts';
import { BadUserInputError } from '../../src/errors.ts';
import { PoolOrderLoader } from '../../src/loaders/pool-orders.ts';
import { readSamplePools } from '../domain/pool-orders.ts';
import { poolOf, tokenId } from '../domain/pools.ts';

const found = readSamplePools().get('6cb4');
if (found === undefined) throw new Error('the sample has the pool of PRV and BTC');
const pool: PoolPair = found;
const { token1Id: prv, token2Id: btc } = pool;

/** A loader of the orders that the pools have themselves, or of others. */
function loaderOf(decimals: Record<string, number> = { [prv]: 9, [btc]: 6 }, read?: () => Promise<PoolOrder[]>) {
  return new PoolOrderLoader({
    exchange: { ordersOf: ({ v3 }) => read?.() ?? v3?.orders ?? [] },
    tokens: {
      list: toTokenList(
        Object.keys(decimals).map((tokenId) => ({ tokenId, symbol: undefined, decimals: decimals[tokenId] })),
      ),
    },
    options: { maxPageSize: 6 },
  });
}

/** The first letters of the ids of the orders. */
async function idsOf(args: { readonly sells?: string; readonly first?: number }, of: PoolPair = pool) {
  const orders = await loaderOf().best(of, args);
  return orders?.map(({ order }) => order.id.slice(0, 2)).join(' ');
}

describe('the orders of a pool', () => {
  test('are those of one side or of both, best first, the spent one too', async () => {
    expect(await idsOf({ sells: prv, first: 6 })).toBe('00 b0 83');
    expect(await idsOf({ sells: btc, first: 6 })).toBe('d0 b1 a4 0c');
    expect(await idsOf({ sells: btc, first: 2 })).toBe('d0 b1');
    expect(await idsOf({ first: 4 })).toBe('00 b0 d0 b1');
    expect(await idsOf({ first: 0 })).toBe('');
    // The default is no more than the largest page.
    expect(await idsOf({})).toBe('00 b0 83 d0 b1 a4');
  });

  test('are undefined in V1, also with arguments', async () => {
    const v1 = poolOf(5n, 6n);
    expect(await idsOf({}, v1)).toBeUndefined();
    expect(await idsOf({ sells: tokenId('a') }, v1)).toBeUndefined();
    expect(loaderOf({ [tokenId('a')]: 0, [tokenId('b')]: 0 }).book(v1, {})).toBeUndefined();
  });

  test.each([
    [{ first: -1 }, 'first is -1. It must be 0 or greater.'],
    [{ first: 7 }, 'first is 7. The maximum is 6.'],
    [{ sells: tokenId('c') }, 'The token of sells is not one of the two tokens of the pool.'],
  ])('with %j are an error in both versions', (args, message) => {
    for (const each of [pool, poolOf(5n, 6n)])
      expect(() => loaderOf().best(each, args)).toThrow(new BadUserInputError(message));
  });

  test('can be read later', async () => {
    const orders = [...(pool.v3?.orders ?? [])].reverse();
    const withoutOrders = { ...pool, v3: pool.v3 && { ...pool.v3, orders: undefined } };
    const loader = loaderOf(undefined, async () => orders);
    const ofSample = loaderOf();
    expect(await loader.best(withoutOrders, {})).toEqual(
      (await ofSample.best(pool, {}))?.map(({ order }) => ({ order, pool: withoutOrders })),
    );
    expect(await loader.book(withoutOrders, {})).toEqual(ofSample.book(pool, {}));
    expect(await loader.depths(withoutOrders, [1])).toEqual(ofSample.depths(pool, [1]));
  });
});

describe('the book of a pool', () => {
  test('has half of its depth on each side, rounded up, and 0 is everything', async () => {
    for (const [depth, entries] of [
      [1, 1],
      [3, 2],
      [4, 2],
      [0, 3],
      [100, 3],
      [undefined, 3],
    ]) {
      const book = await loaderOf().book(pool, { depth });
      expect([book?.bids.length, book?.asks.length]).toEqual([entries, entries]);
    }
    expect(() => loaderOf().book(pool, { depth: -1 })).toThrow(BadUserInputError);
  });

  test.each([{}, { [prv]: 9 }, { [btc]: 6 }])('is undefined while decimals are unknown: %j', (decimals) => {
    expect(loaderOf(decimals).book(pool, {})).toBeUndefined();
  });

  test('is made once for an answer if it is complete', () => {
    const loader = loaderOf();
    const book = loader.completeBook(pool, 2);
    expect(loader.book(pool, { depth: 0 })).toBe(book);
    expect(loader.completeBook(pool, 1)).not.toEqual(book);
    expect(loaderOf().completeBook(pool, 2)).toEqual(book);
  });
});
