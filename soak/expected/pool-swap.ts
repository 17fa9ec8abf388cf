import type { Order } from '../../src/sandbox/v3/pool.ts';
import type { PoolAmounts } from './exchange.ts';

type Side = 0 | 1;

const LIMIT = 2n ** 64n;

/**
 * What a pool of V3 and its orders give for an amount of the token of a side, written only from the description of the exchange:
 * the curve up to the price of the best order, that order, and so on. `undefined` if the exchange refuses the trade.
 */
export function swappedBy({ virtual, real, orders }: PoolAmounts, sold: Side, amount: bigint): bigint | undefined {
  const bought = sold === 0 ? 1 : 0;
  let [curveIn, curveOut, holdsIn, holdsOut] = [virtual[sold], virtual[bought], real[sold], real[bought]];
  let [rest, total] = [amount, 0n];

  const onCurve = (paid: bigint) => (paid * curveOut) / (curveIn + paid);
  function move(paid: bigint, got: bigint): void {
    curveIn += paid;
    holdsIn += paid;
    curveOut -= got;
    holdsOut -= got;
    rest -= paid;
    total += got;
  }
  const isPossible = () => holdsOut >= 0n && holdsIn < LIMIT && total < LIMIT;
  // Also a pool that was emptied on the way refuses the rest.
  const isEmpty = () => holdsIn === 0n || holdsOut === 0n;

  // Sellers of token 1 are met from the end of the list, and sellers of token 0 from its start.
  const met = orders.filter((order) => order.sells === bought && isMatchable(order));
  for (const { rates, balances } of sold === 0 ? met.toReversed() : met) {
    if (isEmpty()) return undefined;
    const [rateIn, rateOut, balance] = [rates[sold], rates[bought], balances[bought]];
    // What moves the curve to the price of the order.
    const reach = rootOf((curveIn * curveOut * rateIn) / rateOut) - curveIn;
    if (reach >= rest) break;
    if (reach > 0n && onCurve(reach) > 0n) move(reach, onCurve(reach));
    const wanted = (rest * rateOut) / rateIn;
    // The node computes this in 64 bits, also if the order has less left.
    if (wanted >= LIMIT) return undefined;
    const [paid, got] = wanted > balance ? [(balance * rateIn) / rateOut, balance] : [rest, wanted];
    if (got === 0n || paid === 0n || balances[sold] + paid >= LIMIT) return undefined;
    rest -= paid;
    total += got;
    if (rest === 0n) return isPossible() ? total : undefined;
  }
  const last = onCurve(rest);
  if (isEmpty() || last === 0n) return undefined;
  move(rest, last);
  return isPossible() ? total : undefined;
}

/** Whether what is left of an order buys at least one unit, and at most 64 bits. */
export function isMatchable({ sells, rates, balances }: Order): boolean {
  const other = sells === 0 ? 1 : 0;
  const least = (balances[sells] * rates[other]) / rates[sells];
  return least >= 1n && least < LIMIT;
}

/** The largest integer whose square is at most a value. */
function rootOf(value: bigint): bigint {
  let [low, high] = [0n, 1n << BigInt((value.toString(16).length * 4) / 2 + 1)];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle * middle <= value) low = middle;
    else high = middle;
  }
  return low;
}
