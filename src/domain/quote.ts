import { toSignificantDecimal } from './amount.ts';
import type { BeaconHeight } from './beacon-height.ts';
import { findRouteV1 } from './best-route.ts';
import { toExactDecimal } from './exact-decimal.ts';
import { type ExchangeState, placeOfId, versionOf } from './exchange.ts';
import { type ExchangeSwaps, type Hop, leastAlong, sellAlong } from './exchange-swaps.ts';
import type { PoolGraph } from './pool-graph.ts';
import type { PoolPair } from './pool-pair.ts';
import type { PoolSwap, SwapRefusal } from './pool-swap.ts';
import type { RouteSearch } from './route-bounds.ts';
import { findRouteV3 } from './route-search.ts';
import type { TokenId } from './token.ts';
import { type TradeFee, tradeFee } from './trade-fee.ts';

/** What is to be traded: the amount that is sold, or the one that is bought, in smallest units and above 0. */
export type QuoteRequest = {
  readonly sellTokenId: TokenId;
  readonly buyTokenId: TokenId;
  /** Maximum number of pools. */
  readonly maxHops: number;
} & (
  | { readonly sellAmount: bigint; readonly buyAmount?: undefined }
  | { readonly buyAmount: bigint; readonly sellAmount?: undefined }
);

/** One token for another, in smallest units. */
type Exchanged = {
  readonly sellTokenId: TokenId;
  readonly buyTokenId: TokenId;
  readonly sellAmount: bigint;
  readonly buyAmount: bigint;
};

/** One pool of a route: what it gets, and what it gives. */
export type QuoteStep = Exchanged & { readonly pool: PoolPair };

/** The best way to change one token for another in the state of one height. */
export type Quote = Exchanged & {
  readonly beaconHeight: BeaconHeight;
  /** In the order of the trade: at least one. A step sells what the step before bought. */
  readonly route: readonly QuoteStep[];
  /** What the exchange takes at least, on top of the trade; `undefined` in V1, where the trader offers a fee. */
  readonly fee?: TradeFee | undefined;
};

type TradeRefusal = SwapRefusal | 'POOL_TWICE' | 'NO_SUCH_POOL' | 'ROUTE_DOES_NOT_FIT';

/** All pools of the exchange in one state, from which quotes are computed. */
export type QuotedPools = {
  readonly exchange: ExchangeState;
  /** The graph of the directory. */
  graph(): PoolGraph;
  /** The trades through the pools. */
  swaps(): ExchangeSwaps;
  /** The pool at a place of the directory. It is pinned to its height if the height was named. */
  at(place: number): PoolPair;
};

/**
 * The best quote: of V1 by {@link findRouteV1}, of V3 by {@link findRouteV3}.
 *
 * @returns `undefined` if no route works, gives something, and needs at most 2^64 - 1. Pools that refuse the trade are passed by
 */
export function bestQuote(pools: QuotedPools, request: QuoteRequest): Quote | undefined {
  const graph = pools.graph();
  const search = toRouteSearch(graph, request);
  const find = versionOf(pools.exchange) === 'V1' ? findRouteV1 : findRouteV3;
  const found = search && find(pools.swaps(), graph, search);
  const quote = found && quoteOf(pools, request, found.route);
  return typeof quote === 'string' ? undefined : quote;
}

/**
 * The quote along exactly these pools of V3, or why the exchange refuses the trade. A bought amount that cannot be had is
 * `REAL_RESERVE_TOO_SMALL`.
 *
 * @param route ids of pools, in the order of the trade
 */
export function quoteAlong(pools: QuotedPools, request: QuoteRequest, route: readonly string[]): Quote | TradeRefusal {
  const { directory } = pools.exchange;
  if (new Set(route).size < route.length) return 'POOL_TWICE';
  const places = route.flatMap((id) => placeOfId(directory, id) ?? []);
  if (places.length < route.length) return 'NO_SUCH_POOL';

  const hops: Hop[] = [];
  let token = request.sellTokenId;
  for (const place of places) {
    const [token1Id, token2Id] = [directory.token1Ids[place] ?? '', directory.token2Ids[place] ?? ''];
    if (token !== token1Id && token !== token2Id) return 'ROUTE_DOES_NOT_FIT';
    const side = token === token1Id ? 0 : 1;
    hops.push({ place, side });
    token = side === 0 ? token2Id : token1Id;
  }
  return token === request.buyTokenId ? quoteOf(pools, request, hops) : 'ROUTE_DOES_NOT_FIT';
}

function quoteOf(pools: QuotedPools, request: QuoteRequest, hops: readonly Hop[]): Quote | SwapRefusal {
  const { exchange } = pools;
  const { sellTokenId, buyTokenId } = request;
  const swaps = hops.map((hop) => pools.swaps().swapOf(hop));
  const amounts = versionOf(exchange) === 'V1' ? amountsOfV1(swaps, request) : amountsAlong(swaps, request);
  if (typeof amounts === 'string') return amounts;

  const route = hops.map(({ place, side }, index): QuoteStep => {
    const pool = pools.at(place);
    const [sellToken, buyToken] = side === 0 ? [pool.token1Id, pool.token2Id] : [pool.token2Id, pool.token1Id];
    const [sellAmount = 0n, buyAmount = 0n] = amounts.slice(index);
    return { pool, sellTokenId: sellToken, buyTokenId: buyToken, sellAmount, buyAmount };
  });
  const [sellAmount = 0n] = amounts;
  const places = hops.map(({ place }) => place);
  return {
    beaconHeight: exchange.beaconHeight,
    sellTokenId,
    buyTokenId,
    sellAmount,
    buyAmount: amounts.at(-1) ?? 0n,
    route,
    fee: tradeFee(exchange, places, sellTokenId, sellAmount),
  };
}

/** The amounts before and after each pool that a trade really moves, also if the client named the amount to buy. */
function amountsAlong(swaps: readonly PoolSwap[], { sellAmount, buyAmount }: QuoteRequest): bigint[] | SwapRefusal {
  const sold = sellAmount ?? leastAlong(swaps, buyAmount);
  return sold === undefined ? 'REAL_RESERVE_TOO_SMALL' : sellAlong(swaps, sold);
}

/** The same in V1. With `buyAmount`, each pool gives what the next one must be sent, so rounding may give a little more on the way. */
function amountsOfV1(swaps: readonly PoolSwap[], request: QuoteRequest): bigint[] | SwapRefusal {
  const { buyAmount } = request;
  if (buyAmount === undefined) return amountsAlong(swaps, request);
  return [...swaps.map((_, index) => leastAlong(swaps.slice(index), buyAmount) ?? 0n), buyAmount];
}

/** The search that a request needs; `undefined` if no pool has one of the tokens. */
function toRouteSearch(graph: PoolGraph, request: QuoteRequest): RouteSearch | undefined {
  const { maxHops, sellAmount, buyAmount } = request;
  const [sold, bought] = [graph.find(request.sellTokenId), graph.find(request.buyTokenId)];
  if (sold === undefined || bought === undefined) return undefined;
  return sellAmount === undefined
    ? { direction: 'BUYING', start: bought, end: sold, amount: buyAmount, maxHops }
    : { direction: 'SELLING', start: sold, end: bought, amount: sellAmount, maxHops };
}

/** Whole sell tokens for one whole buy token, to 18 significant digits, without zeros at the end. */
export function quotedPrice({ sellAmount, buyAmount }: Exchanged, sellDecimals: number, buyDecimals: number): string {
  return toSignificantDecimal(sellAmount * 10n ** BigInt(buyDecimals), buyAmount * 10n ** BigInt(sellDecimals), 18);
}

/**
 * How much less a route gives than its spot prices would, in percent: `100 * (1 - received / (sent * product of spot prices))`.
 * Below 0, it gives more: orders of V3 can be better than the curve.
 *
 * The difference is taken in whole numbers, so that a small impact has all its digits.
 *
 * @param route the steps of a quote, or one of them
 */
export function priceImpactPercent(route: readonly QuoteStep[]): number {
  let atSpotPrices = route[0]?.sellAmount ?? 0n;
  let received = route.at(-1)?.buyAmount ?? 0n;
  // Both are multiplied by the product of the reserves that are paid into.
  for (const { pool, sellTokenId } of route) {
    const isToken1Sold = pool.token1Id === sellTokenId;
    received *= isToken1Sold ? pool.reserve1 : pool.reserve2;
    atSpotPrices *= isToken1Sold ? pool.reserve2 : pool.reserve1;
  }
  return 100 * (Number(atSpotPrices - received) / Number(atSpotPrices));
}

/**
 * An amount less that many percent, rounded down.
 *
 * @param slippagePercent from 0 to 100. It means its shortest decimal spelling, as clients write it: 0.1 is exactly a tenth
 */
export function minimumReceived(amount: bigint, slippagePercent: number): bigint {
  const { units, scale } = toExactDecimal(slippagePercent);
  const hundred = 100n * 10n ** BigInt(scale);
  return (amount * (hundred - units)) / hundred;
}
