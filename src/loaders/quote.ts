import type { BeaconHeight } from '../domain/beacon-height.ts';
import { MAX_HOPS_V1 } from '../domain/best-route.ts';
import { placeOfId } from '../domain/exchange.ts';
import { ExchangeSwaps } from '../domain/exchange-swaps.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { PoolOrder } from '../domain/pool-order.ts';
import { poolPairId } from '../domain/pool-pair.ts';
import { bestQuote, type Quote, type QuotedPools, type QuoteRequest, quoteAlong } from '../domain/quote.ts';
import { MAX_HOPS_V3 } from '../domain/route-search.ts';
import type { TokenId } from '../domain/token.ts';
import { BadUserInputError, TradeRefusedError } from '../errors.ts';
import { createTurnQueue } from '../turns/turns.ts';
import { requireBetween, type SentArguments } from './arguments.ts';
import { type ExchangeLoader, readPoolId } from './exchange.ts';

/** The arguments of a quote. */
export type QuoteArguments = {
  readonly sellTokenId: TokenId;
  readonly buyTokenId: TokenId;
  /** Exactly one of the two amounts is set. */
  readonly sellAmount?: bigint | null | undefined;
  readonly buyAmount?: bigint | null | undefined;
  readonly maxHops?: number | null | undefined;
  /** Ids of pools of V3: the quote is along exactly these, and `maxHops` does not count. */
  readonly route?: readonly string[] | null | undefined;
  readonly at?: BeaconHeight | null | undefined;
};

/** The trade of a quote, with its route if that is not to be searched. */
type RoutedRequest = QuoteRequest & { readonly route?: readonly string[] | undefined };

type SlippageArguments = SentArguments<{ slippagePercent: number }>;

/** Maximum number of pools of a route if the argument is not set. */
export const DEFAULT_MAX_HOPS = 3;

/** Percent of slippage if the argument is not set. */
export const DEFAULT_SLIPPAGE_PERCENT = 0.5;

/** The quotes of one response. */
export class QuoteLoader {
  readonly #exchange: Pick<ExchangeLoader, 'allPools' | 'ordersOf'>;
  readonly #takeTurn = createTurnQueue();

  constructor(exchange: Pick<ExchangeLoader, 'allPools' | 'ordersOf'>) {
    this.#exchange = exchange;
  }

  /**
   * The best quote at the height of the response, or at an earlier one; `undefined` if there is none. With `route`, the quote
   * along it.
   *
   * @throws BadUserInputError, TradeRefusedError, HeightNotAvailableError, UpstreamError
   */
  find(args: QuoteArguments): MaybePromise<Quote | undefined> {
    const request = readQuoteArguments(args);
    const pools = this.#exchange.allPools(args.at);
    return pools instanceof Promise ? this.#inTurn(pools, request) : this.#quoteIn(pools, request);
  }

  /** Quotes that wait for the same state get it in the same turn of the event loop, and are computed one in each turn. */
  async #inTurn(awaited: Promise<QuotedPools>, request: RoutedRequest): Promise<Quote | undefined> {
    const pools = await awaited;
    await this.#takeTurn();
    return this.#quoteIn(pools, request);
  }

  #quoteIn(pools: QuotedPools, request: RoutedRequest): MaybePromise<Quote | undefined> {
    const { v3 } = pools.exchange;
    if (v3 === undefined) requireArgumentsOfV1(request);
    return v3 !== undefined && v3.orders === undefined ? this.#withOrders(pools, request) : quoteIn(pools, request);
  }

  /** An old node sends no orders with a state. The route is then found on the curves alone, and the orders of its pools are read. */
  async #withOrders(pools: QuotedPools, request: RoutedRequest): Promise<Quote | undefined> {
    const route = request.route ?? quoteIn(pools, request)?.route.map(({ pool }) => poolPairId(pool)) ?? [];
    const orders = new Map<number, readonly PoolOrder[]>();
    for (const id of new Set(route)) {
      const place = placeOfId(pools.exchange.directory, id);
      if (place !== undefined) orders.set(place, await this.#exchange.ordersOf(pools.at(place)));
    }
    const swaps = new ExchangeSwaps(pools.exchange, (place) => orders.get(place) ?? []);
    const withOrders = { ...pools, swaps: () => swaps };
    if (request.route !== undefined) return quoteIn(withOrders, request);
    const quote = route.length === 0 ? undefined : quoteAlong(withOrders, request, route);
    return typeof quote === 'string' ? undefined : quote;
  }
}

function quoteIn(pools: QuotedPools, request: RoutedRequest): Quote | undefined {
  const { route } = request;
  if (route === undefined) return bestQuote(pools, request);
  const quote = quoteAlong(pools, request, route);
  if (typeof quote === 'string') throw new TradeRefusedError(quote);
  return quote;
}

function requireArgumentsOfV1({ route, maxHops }: Pick<RoutedRequest, 'route' | 'maxHops'>): void {
  if (route !== undefined)
    throw new BadUserInputError('route is set. Pools of the first version of the exchange have no pool ids.');
  requireHops(MAX_HOPS_V1, maxHops);
}

/** The trade that arguments mean. Which version of the exchange it is for is not known yet. @throws BadUserInputError */
export function readQuoteArguments(args: QuoteArguments): RoutedRequest {
  const { sellTokenId, buyTokenId, sellAmount, buyAmount } = args;
  const route = args.route == null ? undefined : readRoute(args.route);
  if (route === undefined && sellTokenId === buyTokenId)
    throw new BadUserInputError('sellTokenId and buyTokenId are the same token.');

  const maxHops = args.maxHops ?? DEFAULT_MAX_HOPS;
  if (route === undefined) requireHops(MAX_HOPS_V3, maxHops);
  const trade = { sellTokenId, buyTokenId, maxHops, ...(route && { route }) };
  if (sellAmount != null && buyAmount != null) throw new BadUserInputError('Set sellAmount or buyAmount, not both.');
  if (sellAmount != null) return { ...trade, sellAmount: aboveZero('sellAmount', sellAmount) };
  if (buyAmount != null) return { ...trade, buyAmount: aboveZero('buyAmount', buyAmount) };
  throw new BadUserInputError('Set sellAmount or buyAmount.');
}

/** Names both maxima: which version it is for is not known before a state is read. */
function requireHops(max: number, maxHops: number): void {
  if (maxHops >= 1 && maxHops <= max) return;
  throw new BadUserInputError(`maxHops is ${maxHops}. It must be from 1 to ${MAX_HOPS_V3}, in V1 to ${MAX_HOPS_V1}.`);
}

function readRoute(route: readonly string[]): readonly string[] {
  requireBetween(1, MAX_HOPS_V3, 'The number of pools of route', route.length);
  return route.map((id) => poolPairId(readPoolId(id)));
}

function aboveZero(name: string, amount: bigint): bigint {
  if (amount > 0n) return amount;
  throw new BadUserInputError(`${name} is ${amount}. It must be greater than 0.`);
}

/** The slippage that an argument means, in percent. @throws BadUserInputError */
export function readSlippagePercent({ slippagePercent }: SlippageArguments): number {
  const percent = slippagePercent ?? DEFAULT_SLIPPAGE_PERCENT;
  requireBetween(0, 100, 'slippagePercent', percent);
  return percent;
}
