import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { PoolAmounts } from '../../soak/expected/exchange.ts';
import { swappedBy } from '../../soak/expected/pool-swap.ts';

type Texts = readonly [string, string];
type Side = 0 | 1;
type PoolVector = {
  readonly tokens: Texts;
  readonly real: Texts;
  readonly virtual: Texts;
  readonly orders: readonly {
    readonly id: string;
    readonly sells: Side;
    readonly rate: Texts;
    readonly balance: Texts;
  }[];
};
type SwapVector = {
  readonly name: string;
  readonly kind: string;
  readonly pools: Readonly<Record<string, PoolVector>>;
  readonly path: readonly string[];
  readonly sellToken: string;
  readonly sellAmount: string;
  readonly expected:
    | { readonly accepted: false; readonly why: string }
    | { readonly accepted: true; readonly buyAmount: string };
};

// Numbers of the node's own trade code.
const { vectors } = JSON.parse(
  readFileSync(new URL('../fixtures/node/v3/swap-vectors.json', import.meta.url), 'utf8'),
) as { readonly vectors: readonly SwapVector[] };

const amountsOf = ([one, two]: Texts) => [BigInt(one), BigInt(two)] as const;

function stateOf({ real, virtual, orders }: PoolVector): PoolAmounts {
  return {
    real: amountsOf(real),
    virtual: amountsOf(virtual),
    shares: 0n,
    orders: orders.map(({ id, sells, rate, balance }) => ({
      id,
      sells,
      rates: amountsOf(rate),
      balances: amountsOf(balance),
      nft: '',
      receivers: ['', ''],
    })),
  };
}

// What a whole path is refused for is none of the business of a pool.
const swaps = vectors.filter(
  ({ kind, path, pools }) => kind === 'swap' && path.every((id) => pools[id]) && new Set(path).size === path.length,
);

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
