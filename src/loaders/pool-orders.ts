import { type DepthTrades, depthTrades, type PoolDepth, poolDepths } from '../domain/depth.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { atDepth } from '../domain/order-book.ts';
import { type BookUnits, type PoolBook, toPoolBook } from '../domain/pool-book.ts';
import { bestOrders, type PoolOrder, type SellingOrders, toSellingOrders } from '../domain/pool-order.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import type { TokenId } from '../domain/token.ts';
import { BadUserInputError } from '../errors.ts';
import { createTurnQueue } from '../turns/turns.ts';
import { readPageSize, type SentArguments } from './arguments.ts';
import type { ExchangeLoader } from './exchange.ts';
import { type Depth, readOrderBookArguments } from './order-book.ts';
import { poolPrice } from './pool-price.ts';
import type { TokenLoader } from './token.ts';

/** An order, and the pool that it belongs to. */
export type OrderOfPool = { readonly order: PoolOrder; readonly pool: PoolPair };

type OrdersArguments = SentArguments<{ sells: TokenId; first: number }>;

type PoolOrderLoaderOptions = {
  readonly exchange: Pick<ExchangeLoader, 'ordersOf'>;
  readonly tokens: Pick<TokenLoader, 'list'>;
  readonly options: { readonly maxPageSize: number };
};

/** How many percentages of depths a response computes before each further field takes a turn of its own. */
const PERCENTS_AT_ONCE = 100;

/** The orders of pools for one response. A pool of V1 has none. */
export class PoolOrderLoader {
  readonly #options: PoolOrderLoaderOptions;
  /** A response can have many fields of a pool that need its orders sorted, or its complete book. */
  readonly #sides = new Map<readonly PoolOrder[], SellingOrders>();
  readonly #completeBooks = { 1: new Map<SellingOrders, PoolBook>(), 2: new Map<SellingOrders, PoolBook>() };
  /** The sides from which a part of a book was made. */
  readonly #withPart = new Set<SellingOrders>();
  readonly #depthTrades = new WeakMap<PoolPair, DepthTrades>();
  readonly #takeTurn = createTurnQueue();
  #percents = 0;

  constructor(options: PoolOrderLoaderOptions) {
    this.#options = options;
  }

  /**
   * The best orders of a pool, of one side or of both.
   *
   * @returns `undefined` in V1
   * @throws BadUserInputError for a token that the pool does not have, or a number of orders that is not valid, UpstreamError
   */
  best(pool: PoolPair, { sells, first }: OrdersArguments): MaybePromise<readonly OrderOfPool[] | undefined> {
    const size = readPageSize({ first }, this.#options.options.maxPageSize);
    if (sells != null && sells !== pool.token1Id && sells !== pool.token2Id)
      throw new BadUserInputError('The token of sells is not one of the two tokens of the pool.');
    if (pool.v3 === undefined) return undefined;

    return andThen(this.#sidesOf(pool), (sides) => {
      const oneSide = sells === pool.token1Id ? sides.selling1 : sides.selling2;
      const orders = sells == null ? bestOrders(sides, size) : oneSide.slice(0, size);
      return orders.map((order) => ({ order, pool }));
    });
  }

  /**
   * The order book of a pool, token 1 per token 2.
   *
   * @returns `undefined` in V1, and while decimals are unknown
   * @throws BadUserInputError for a negative depth, UpstreamError
   */
  book(pool: PoolPair, args: { readonly depth?: Depth }): MaybePromise<PoolBook | undefined> {
    const { depth } = readOrderBookArguments(args);
    const units = this.#unitsOf(pool, 2);
    if (units === undefined) return undefined;
    return andThen(this.#sidesOf(pool), (sides) => {
      // A part takes less time than the complete book, but each further part would take as long.
      if (depth === 0 || this.#withPart.has(sides)) return atDepth(this.#toCompleteBook(sides, units), depth);
      this.#withPart.add(sides);
      return toPoolBook(sides, units, Math.ceil(depth / 2));
    });
  }

  /** The complete order book of a pool, in prices of one of its tokens; `undefined` in the same cases. @throws UpstreamError */
  completeBook(pool: PoolPair, base: 1 | 2): MaybePromise<PoolBook | undefined> {
    const units = this.#unitsOf(pool, base);
    return units && andThen(this.#sidesOf(pool), (sides) => this.#toCompleteBook(sides, units));
  }

  /** What it takes to move the price of a pool by each percentage. @throws UpstreamError */
  depths(pool: PoolPair, percents: readonly number[]): MaybePromise<readonly PoolDepth[]> {
    return andThen(this.#sidesOf(pool), (sides) => {
      const trades = this.#depthTrades.get(pool) ?? depthTrades(pool, sides);
      this.#depthTrades.set(pool, trades);
      this.#percents += percents.length;
      const turn = this.#percents > PERCENTS_AT_ONCE ? this.#takeTurn() : undefined;
      return andThen(turn, () => poolDepths(pool, percents, trades));
    });
  }

  #toCompleteBook(sides: SellingOrders, units: BookUnits): PoolBook {
    const known = this.#completeBooks[units.base];
    const book = known.get(sides) ?? toPoolBook(sides, units);
    known.set(sides, book);
    return book;
  }

  #sidesOf(pool: PoolPair): MaybePromise<SellingOrders> {
    return andThen(this.#options.exchange.ordersOf(pool), (orders) => {
      const known = this.#sides.get(orders) ?? toSellingOrders(orders);
      this.#sides.set(orders, known);
      return known;
    });
  }

  #unitsOf(pool: PoolPair, base: 1 | 2): BookUnits | undefined {
    const toUnits = (_pool: PoolPair, decimals1: number, decimals2: number) => ({ base, decimals1, decimals2 });
    return pool.v3 && poolPrice(toUnits, pool, {}, this.#options.tokens.list);
  }
}
