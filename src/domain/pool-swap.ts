import { MAX_AMOUNT } from './amount.ts';
import { firstIndexWhere } from './binary-search.ts';
import type { OrderTerms } from './pool-order.ts';
import { divideUp, squareRoot } from './swap.ts';

/** Why a pool of V3 refuses a trade. */
export type SwapRefusal = 'NO_LIQUIDITY' | 'REAL_RESERVE_TOO_SMALL' | 'RESERVE_OUT_OF_RANGE' | 'ONE_SIDE_ZERO';

/** One direction of a pool of V3, in the view of a trader: `In` is the token that is sold to the pool, `Out` the one that is bought. */
export type SwapSide = Amounts & {
  /** The most that the pool may hold of the token that is sold, by default 2^64 - 1: a trade beyond it is refused. */
  readonly maxIn?: bigint;
  /** The orders that a trade can meet, best first. */
  readonly orders: readonly OrderTerms[];
};

type Amounts = {
  readonly virtualIn: bigint;
  readonly virtualOut: bigint;
  readonly realIn: bigint;
  readonly realOut: bigint;
};

/**
 * The way of a trade between two orders: along the curve up to the price of the next order, then the order. A trade that sells more
 * goes on to the next rung.
 */
type Rung = Amounts & {
  /** What a trade has sold and bought when it gets here. */
  readonly sold: bigint;
  readonly bought: bigint;
  /** What is sold on the curve at most; `undefined` without a limit. Negative if the order is better than the curve. */
  readonly reach: bigint | undefined;
  /** What `reach` buys. If it is 0, the curve is skipped by trades that go on to the order. */
  readonly boughtOnCurve: bigint;
  /** `undefined` if no order follows, or if no trade gets as far as the order. */
  readonly order: OrderTerms | undefined;
  /** What a trade has sold when it gets to the order. */
  readonly orderStart: bigint;
  /** The largest amount whose trade ends at this rung or at an earlier one; `undefined` without a limit. */
  readonly end: bigint | undefined;
  /** What trades that go on have bought; `undefined` if none goes on. */
  readonly boughtAtEnd: bigint | undefined;
  /** A trade of more than this would have bought more than 2^64 - 1 at the rate of an earlier order: it is refused there. */
  readonly limit: bigint | undefined;
};

/**
 * Trades in one direction of a pool of V3, exactly as the exchange executes them: along the curve and through the orders.
 *
 * The steps of a trade are computed once, as far as the largest trade needs them. The last one is found by binary search.
 *
 * A trade that sells more never gives less, except that some amounts are refused: where a step would move only one of the two
 * tokens. So there are gaps, most of them just above the amount that fills an order.
 */
export class PoolSwap {
  readonly #orders: readonly OrderTerms[];
  readonly #maxIn: bigint;
  readonly #rungs: Rung[] = [];
  /** Where the next rung begins; `undefined` if there is no other. */
  #next: (Amounts & { readonly sold: bigint; readonly bought: bigint }) | undefined;
  /** Why trades beyond the last rung are refused. */
  #beyond: SwapRefusal = 'NO_LIQUIDITY';
  #limit: bigint | undefined;

  constructor({ orders, maxIn = MAX_AMOUNT, virtualIn, virtualOut, realIn, realOut }: SwapSide) {
    this.#orders = orders;
    this.#maxIn = maxIn;
    this.#next = { virtualIn, virtualOut, realIn, realOut, sold: 0n, bought: 0n };
  }

  /** What an amount buys, or why the exchange refuses to trade it. @param sold above 0 */
  sell(sold: bigint): bigint | SwapRefusal {
    const rung = this.#rungAt(this.#find((each) => each.end === undefined || each.end >= sold));
    const limit = rung === undefined ? this.#limit : rung.limit;
    if (limit !== undefined && sold > limit) return 'RESERVE_OUT_OF_RANGE';
    return rung === undefined ? this.#beyond : this.#endAt(rung, sold);
  }

  /**
   * The least amount that the exchange accepts and that buys at least `wanted`; `undefined` if there is none up to 2^64 - 1.
   *
   * @param wanted above 0
   * @param from amounts below it do not count
   */
  least(wanted: bigint, from = 1n): bigint | undefined {
    const buysEnough = ({ boughtAtEnd }: Rung) => boughtAtEnd === undefined || boughtAtEnd >= wanted;
    let index = this.#find((rung) => buysEnough(rung) && (rung.end === undefined || rung.end >= from));
    for (let rung = this.#rungAt(index); rung !== undefined; rung = this.#rungAt(++index)) {
      const start = this.#startOf(index);
      if (start > MAX_AMOUNT) return undefined;
      const least = this.#leastAt(rung, wanted, start > from ? start : from);
      if (least !== undefined) return least;
    }
    return undefined;
  }

  /**
   * The least amount that the exchange accepts and that moves the curve to at least `target` of the token that is sold; `undefined` if
   * there is none up to 2^64 - 1.
   *
   * @param target above the virtual amount
   */
  leastTo(target: bigint): bigint | undefined {
    const getsThere = ({ virtualIn, reach, boughtOnCurve }: Rung) =>
      reach === undefined || virtualIn + (boughtOnCurve > 0n ? reach : 0n) >= target;
    const index = this.#find(getsThere);
    const rung = this.#rungAt(index);
    return rung && this.least(1n, larger(this.#startOf(index), rung.sold + target - rung.virtualIn));
  }

  #leastAt(rung: Rung, wanted: bigint, from: bigint): bigint | undefined {
    const { sold, bought, virtualIn, virtualOut, reach, boughtOnCurve, order, orderStart, end } = rung;
    const isAccepted = (amount: bigint) => amount <= MAX_AMOUNT && typeof this.sell(amount) === 'bigint';

    const onCurve = larger(wanted - bought, 1n);
    if (onCurve < virtualOut) {
      const amount = larger(from, sold + larger(divideUp(onCurve * virtualIn, virtualOut - onCurve), 1n));
      // If the pool cannot accept it, it cannot accept more either.
      if ((reach === undefined || amount <= sold + reach) && isAccepted(amount)) return amount;
    }
    if (order === undefined) return undefined;
    const fromOrder = larger(wanted - bought - boughtOnCurve, 1n);
    if (fromOrder > order.left) return undefined;
    const least = larger(from, orderStart + divideUp(fromOrder * order.buyRate, order.sellRate));
    const amount = reach === undefined ? least : larger(least, sold + reach + 1n);
    return (end === undefined || amount <= end) && isAccepted(amount) ? amount : undefined;
  }

  /** The index of the first rung with a property that all later ones have too. Rungs are added until one has it. */
  #find(hasProperty: (rung: Rung) => boolean): number {
    const rungs = this.#rungs;
    for (let last = rungs.at(-1); last === undefined || !hasProperty(last); last = rungs.at(-1)) {
      if (!this.#extend()) return rungs.length;
    }
    return firstIndexWhere(rungs.length, (index) => hasProperty(rungs[index] as Rung));
  }

  /** The smallest amount whose trade ends at a rung or at a later one. */
  #startOf(index: number): bigint {
    return (this.#rungs[index - 1]?.end ?? 0n) + 1n;
  }

  #rungAt(index: number): Rung | undefined {
    while (index >= this.#rungs.length && this.#extend());
    return this.#rungs[index];
  }

  /** Adds a rung. @returns whether there was one to add */
  #extend(): boolean {
    const start = this.#next;
    this.#next = undefined;
    // The node looks at both sides before each rung, so a curve that was emptied on the way refuses the rest.
    if (start === undefined) return false;
    if (start.realIn === 0n || start.realOut === 0n) {
      this.#beyond = 'NO_LIQUIDITY';
      return false;
    }
    const { sold, bought, virtualIn, virtualOut } = start;
    const order = this.#orders[this.#rungs.length];
    const limit = this.#limit;
    if (order === undefined) {
      this.#add({ ...start, reach: undefined, boughtOnCurve: 0n, order, orderStart: sold, end: undefined, limit });
      return true;
    }
    const { sellRate, buyRate, left } = order;
    const reach = squareRoot((virtualIn * virtualOut * buyRate) / sellRate) - virtualIn;
    const boughtOnCurve = reach > 0n ? this.#boughtOnCurve(start, reach) : 0n;
    const usedOnCurve = boughtOnCurve > 0n ? reach : 0n;
    const refused = usedOnCurve > 0n ? this.#refusalOnCurve(start, reach, boughtOnCurve) : undefined;
    if (refused !== undefined) {
      this.#beyond = refused;
      const end = sold + reach;
      this.#add({ ...start, reach, boughtOnCurve, order: undefined, orderStart: end, end, limit });
      return true;
    }

    const orderStart = sold + usedOnCurve;
    const mostPaid = ((left + 1n) * buyRate - 1n) / sellRate;
    const end = larger(orderStart + mostPaid, sold + reach);
    const boughtAtEnd = bought + boughtOnCurve + left;
    this.#add({ ...start, reach, boughtOnCurve, order, orderStart, end, limit, boughtAtEnd });
    const paid = (left * buyRate) / sellRate;
    this.#limit = smaller(limit, orderStart + ((MAX_AMOUNT + 1n) * buyRate - 1n) / sellRate);
    this.#beyond = 'RESERVE_OUT_OF_RANGE';
    if (order.bought + paid > MAX_AMOUNT || boughtAtEnd > MAX_AMOUNT) return true;
    this.#next = {
      sold: orderStart + paid,
      bought: boughtAtEnd,
      virtualIn: virtualIn + usedOnCurve,
      virtualOut: virtualOut - boughtOnCurve,
      realIn: start.realIn + usedOnCurve,
      realOut: start.realOut - boughtOnCurve,
    };
    return true;
  }

  #add({ end, boughtAtEnd, ...rung }: Omit<Rung, 'boughtAtEnd'> & { readonly boughtAtEnd?: bigint }): void {
    const before = this.#rungs.at(-1)?.end ?? 0n;
    this.#rungs.push({ ...rung, end: end === undefined ? end : larger(end, before), boughtAtEnd });
  }

  /** What a trade buys that ends at a rung, or why it is refused there. */
  #endAt(rung: Rung, amount: bigint): bigint | SwapRefusal {
    const { sold, bought, reach, boughtOnCurve, order, orderStart } = rung;
    const rest = amount - sold;
    if (order === undefined || reach === undefined || rest <= reach) {
      const got = this.#boughtOnCurve(rung, rest);
      return this.#refusalOnCurve(rung, rest, got) ?? bought + got;
    }
    const paid = amount - orderStart;
    const got = (paid * order.sellRate) / order.buyRate;
    if (got === 0n) return 'ONE_SIDE_ZERO';
    const total = bought + boughtOnCurve + got;
    return order.bought + paid > MAX_AMOUNT || total > MAX_AMOUNT ? 'RESERVE_OUT_OF_RANGE' : total;
  }

  #boughtOnCurve({ virtualIn, virtualOut }: Amounts, paid: bigint): bigint {
    return (paid * virtualOut) / (virtualIn + paid);
  }

  /** Why the curve refuses a step. */
  #refusalOnCurve(
    { realIn, realOut, bought }: Amounts & { readonly bought: bigint },
    paid: bigint,
    got: bigint,
  ): SwapRefusal | undefined {
    if (got === 0n) return 'ONE_SIDE_ZERO';
    if (got > realOut) return 'REAL_RESERVE_TOO_SMALL';
    return realIn + paid > this.#maxIn || bought + got > MAX_AMOUNT ? 'RESERVE_OUT_OF_RANGE' : undefined;
  }
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function smaller(one: bigint | undefined, other: bigint): bigint {
  return one !== undefined && one < other ? one : other;
}
