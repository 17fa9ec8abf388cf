import { firstIndexWhere } from './binary-search.ts';
import type { SwapSide } from './pool-swap.ts';
import { ABOVE_MAX_AMOUNT, noBound, optimisticBound, type TradeDirection } from './swap.ts';

/** More than the relative error of sums of ten thousand doubles. */
const ERROR = 2 ** -36;

/** More than the error of a difference of two doubles, in parts of the larger one. */
const ERROR_OF_DIFFERENCE = 2 ** -48;

/** An order, with what a trade has done when it gets there: what it has sold and bought on the curve, and in the orders before. */
type OrderBound = {
  readonly rate: number;
  readonly onCurve: number;
  readonly boughtOnCurve: number;
  readonly paid: number;
  readonly got: number;
  /** The same in the orders up to this one. */
  readonly paidAfter: number;
  readonly gotAfter: number;
};

/**
 * Bounds of trades in one direction of a pool of V3, in floating point.
 *
 * A trade buys at most what it could buy if it were divided at will between the curve and the orders, without rounding: the best
 * price first. An order is then worth what its balance costs at its rate. The exchange takes up to one unit less for it, so a trade
 * that meets `n` orders buys at most what `n` units more could.
 */
export class SwapBound {
  readonly #virtualIn: number;
  readonly #virtualOut: number;
  /** What the pool and its orders have. */
  readonly #available: number;
  readonly #orders: readonly OrderBound[];

  constructor({ virtualIn, virtualOut, realOut, orders }: SwapSide) {
    this.#virtualIn = Number(virtualIn);
    this.#virtualOut = Number(virtualOut);
    const bounds: OrderBound[] = [];
    let [paid, got, onCurve] = [0, 0, 0];
    for (const order of orders) {
      const rate = Number(order.sellRate) / Number(order.buyRate);
      const balance = Number(order.left);
      onCurve = Math.max(onCurve, Math.sqrt((this.#virtualIn * this.#virtualOut) / rate) - this.#virtualIn);
      const boughtOnCurve = this.#boughtOnCurve(onCurve);
      const paidAfter = paid + balance / rate;
      const gotAfter = got + balance;
      bounds.push({ rate, onCurve, boughtOnCurve, paid, got, paidAfter, gotAfter });
      paid = paidAfter;
      got = gotAfter;
    }
    this.#orders = bounds;
    this.#available = (Number(realOut) + got) * (1 + ERROR);
  }

  /**
   * A bound that is never worse for the trader than the exact amount, from such a bound of the known one: the most that an amount
   * buys when selling, the least that must be sold for it when buying.
   */
  optimum(direction: TradeDirection, known: number): number {
    return direction === 'SELLING' ? this.#most(known) : this.#least(known);
  }

  #most(sold: number): number {
    const shifted = sold + this.#orders.length;
    const certain = shifted * (1 + ERROR) + this.#virtualIn * ERROR_OF_DIFFERENCE;
    const order = this.#lastOrder(({ paid, onCurve }) => paid + onCurve > certain);
    const bought =
      order === undefined
        ? optimisticBound('SELLING', sold, this.#virtualIn, this.#virtualOut)
        : this.#boughtFrom(order, shifted) * (1 + ERROR) + this.#virtualOut * ERROR_OF_DIFFERENCE;
    return Math.floor(Math.min(bought, this.#available));
  }

  #boughtFrom({ rate, onCurve, boughtOnCurve, paid, got, paidAfter, gotAfter }: OrderBound, sold: number): number {
    if (sold < paidAfter + onCurve) return got + boughtOnCurve + (sold - paid - onCurve) * rate;
    return gotAfter + this.#boughtOnCurve(sold - paidAfter);
  }

  #least(bought: number): number {
    if (bought > this.#available) return noBound('BUYING');
    const margin = this.#virtualOut * ERROR_OF_DIFFERENCE;
    const certain = bought * (1 + ERROR) + margin;
    const order = this.#lastOrder(({ got, boughtOnCurve }) => got + boughtOnCurve > certain);
    if (order === undefined) return optimisticBound('BUYING', bought, this.#virtualOut, this.#virtualIn);
    const exact = this.#soldFrom(order, bought * (1 - ERROR) - margin) * (1 - ERROR);
    const sold = Math.ceil(exact - this.#virtualIn * ERROR_OF_DIFFERENCE - this.#orders.length);
    return sold < ABOVE_MAX_AMOUNT ? Math.max(1, sold) : noBound('BUYING');
  }

  #soldFrom({ rate, onCurve, boughtOnCurve, paid, got, paidAfter, gotAfter }: OrderBound, bought: number): number {
    if (bought < gotAfter + boughtOnCurve) return paid + onCurve + (bought - got - boughtOnCurve) / rate;
    const rest = bought - gotAfter;
    const remaining = this.#virtualOut * (1 + ERROR_OF_DIFFERENCE) - rest;
    return remaining > 0 ? paidAfter + (rest * this.#virtualIn) / remaining : noBound('BUYING');
  }

  #boughtOnCurve(sold: number): number {
    return (sold * this.#virtualOut) / (this.#virtualIn + sold);
  }

  /** The last order that a trade gets to; `undefined` if none. @param isBeyond whether it does not get to an order, nor to later ones */
  #lastOrder(isBeyond: (order: OrderBound) => boolean): OrderBound | undefined {
    const orders = this.#orders;
    return orders[firstIndexWhere(orders.length, (index) => isBeyond(orders[index] as OrderBound)) - 1];
  }
}
