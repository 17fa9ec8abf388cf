import { expect, test } from 'vitest';
import type { PoolAmounts } from '../../soak/expected/exchange.ts';
import { swappedBy } from '../../soak/expected/pool-swap.ts';
import { type PoolVector, toAmounts, vectorsOf } from '../fixtures/node/v3/swap-vectors.ts';

function stateOf({ real, virtual, orders }: PoolVector): PoolAmounts {
  return {
    real: toAmounts(real),
    virtual: toAmounts(virtual),
    shares: 0n,
    orders: orders.map(({ id, sells, rate, balance }) => ({
      id,
      sells,
      rates: toAmounts(rate),
      balances: toAmounts(balance),
      nft: '',
      receivers: ['', ''],
    })),
  };
}

// What a whole path is refused for is none of the business of a pool.
const swaps = vectorsOf('swap')
  .map(([, vector]) => vector)
  .filter(({ path, pools }) => path.every((id) => pools[id]) && new Set(path).size === path.length);

test('the judge of quotes has vectors', () => {
  expect(swaps.length).toBeGreaterThan(20);
});

test.each(swaps)(
  'what a trade gives through curve and orders: $name',
  ({ pools, path, sellToken, sellAmount, expected }) => {
    let token = sellToken;
    let amount: bigint | undefined = BigInt(sellAmount);
    for (const id of path) {
      const pool = pools[id];
      const side = pool?.tokens.indexOf(token);
      if (pool === undefined || side === undefined || side < 0 || amount === undefined) {
        amount = undefined;
        break;
      }
      amount = swappedBy(stateOf(pool), side === 0 ? 0 : 1, amount);
      token = pool.tokens[side === 0 ? 1 : 0];
    }
    if (!expected.accepted && /minimum|MINIMUM/.test(expected.why)) return;
    expect(amount).toBe(expected.accepted ? BigInt(expected.buyAmount) : undefined);
  },
);
