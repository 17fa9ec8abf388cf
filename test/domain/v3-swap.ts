import { MAX_AMOUNT } from '../../src/domain/amount.ts';
import type { PoolOrder } from '../../src/domain/pool-order.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import type { TokenId } from '../../src/domain/token.ts';

// The rules of the exchange as they are written down, step by step, on a copy of everything that changes.

/** What a step by step trade through a pool gives, and its changes, signed: those of the curve, and of each order. */
export type SlowSwap = {
  readonly bought: bigint;
  readonly curve: readonly [bigint, bigint];
  readonly orders: ReadonlyMap<string, readonly [bigint, bigint]>;
  readonly after: PoolPair;
};

/** The largest integer whose square is at most a value, by bisection near the root of the double. */
function root(value: bigint): bigint {
  const near = BigInt(Math.floor(Math.sqrt(Number(value))));
  const margin = near / 2n ** 48n + 2n;
  let [low, high] = [near > margin ? near - margin : 0n, near + margin];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle * middle <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Trades an amount of a token through a pool, or says why not. */
export function swapSlowly(pool: PoolPair, sellTokenId: TokenId, amount: bigint): SlowSwap | string {
  const { v3 } = pool;
  if (v3 === undefined) throw new Error('a pool of V3');
  const sold = pool.token1Id === sellTokenId ? 0 : 1;
  const out = 1 - sold;
  const virtual = [pool.reserve1, pool.reserve2] as [bigint, bigint];
  const real = [v3.value1, v3.value2] as [bigint, bigint];
  const orders = (v3.orders ?? []).map((order) => ({
    order,
    rate: [order.rate1, order.rate2] as const,
    balance: [order.balance1, order.balance2] as [bigint, bigint],
  }));
  const curve: [bigint, bigint] = [0n, 0n];
  const changes = new Map<string, readonly [bigint, bigint]>();
  const at = (pair: readonly bigint[], side: number) => pair[side] ?? 0n;
  const met = sold === 0 ? orders.toReversed() : orders;
  let rest = amount;
  let bought = 0n;

  function onCurve(paid: bigint, got: bigint): string | undefined {
    if (got === 0n) return 'ONE_SIDE_ZERO';
    if (got > at(real, out)) return 'REAL_RESERVE_TOO_SMALL';
    if (real[sold] + paid > MAX_AMOUNT) return 'RESERVE_OUT_OF_RANGE';
    for (const side of [0, 1] as const) {
      const change = side === sold ? paid : -got;
      real[side] += change;
      virtual[side] += change;
      curve[side] += change;
    }
    rest -= paid;
    bought += got;
    return bought > MAX_AMOUNT ? 'RESERVE_OUT_OF_RANGE' : undefined;
  }

  while (rest > 0n) {
    if (real[0] === 0n || real[1] === 0n) return 'NO_LIQUIDITY';
    const next = met.find(({ order, rate, balance }) => {
      if (order.sells === sold + 1) return false;
      const buys = (at(balance, out) * at(rate, sold)) / at(rate, out);
      return buys >= 1n && buys <= MAX_AMOUNT;
    });
    const gives = (paid: bigint) => (paid * at(virtual, out)) / (at(virtual, sold) + paid);
    const reach =
      next && root((virtual[0] * virtual[1] * at(next.rate, sold)) / at(next.rate, out)) - at(virtual, sold);
    if (next === undefined || reach === undefined || reach >= rest) {
      const refused = onCurve(rest, gives(rest));
      if (refused !== undefined) return refused;
      break;
    }
    if (reach > 0n && gives(reach) > 0n) {
      const refused = onCurve(reach, gives(reach));
      if (refused !== undefined) return refused;
    }

    let paid = rest;
    let got = (rest * at(next.rate, out)) / at(next.rate, sold);
    if (got > MAX_AMOUNT) return 'RESERVE_OUT_OF_RANGE';
    if (got > at(next.balance, out)) {
      got = at(next.balance, out);
      paid = (got * at(next.rate, sold)) / at(next.rate, out);
    }
    if (got === 0n || paid === 0n) return 'ONE_SIDE_ZERO';
    const change: [bigint, bigint] = sold === 0 ? [paid, -got] : [-got, paid];
    next.balance[0] += change[0];
    next.balance[1] += change[1];
    if (at(next.balance, sold) > MAX_AMOUNT) return 'RESERVE_OUT_OF_RANGE';
    changes.set(next.order.id, change);
    rest -= paid;
    bought += got;
    if (bought > MAX_AMOUNT) return 'RESERVE_OUT_OF_RANGE';
  }

  const [reserve1, reserve2] = virtual;
  const [value1, value2] = real;
  const left = orders.map(({ order, balance }): PoolOrder => {
    const [balance1, balance2] = balance;
    return { ...order, balance1, balance2 };
  });
  return {
    bought,
    curve,
    orders: changes,
    after: { ...pool, reserve1, reserve2, v3: { ...v3, value1, value2, orders: left } },
  };
}
