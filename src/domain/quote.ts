import { toSignificantDecimal } from './amount.ts';
import type { BeaconHeight } from './beacon-height.ts';
import { findBestRoute } from './best-route.ts';
import { toExactDecimal } from './exact-decimal.ts';
import type { ExchangeState } from './exchange.ts';
import type { PoolGraph } from './pool-graph.ts';
import type { PoolPair } from './pool-pair.ts';
import type { RouteSearch } from './route-bounds.ts';
import type { TokenId } from './token.ts';
import type { TradeFee } from './trade-fee.ts';

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

/**
 * The best quote of V1, by {@link findBestRoute}. With `buyAmount`, each step buys what the next one must be sent, so rounding may
 * give a little more on the way.
 *
 * @param graph of the state's directory
 * @param poolAt gets the pool at a place of the state
 * @returns `undefined` without a route, if the best one gives nothing, or if it needs more than 2^64 - 1
 */
export function bestQuote(
  state: ExchangeState,
  graph: PoolGraph,
  request: QuoteRequest,
  poolAt: (place: number) => PoolPair,
): Quote | undefined {
  const { sellTokenId, buyTokenId, sellAmount } = request;
  const search = toRouteSearch(graph, request);
  const steps = search && findBestRoute(state, graph, search);
  if (steps === undefined) return undefined;

  const amounts =
    sellAmount === undefined
      ? steps.toReversed().map(({ place, known, other }) => ({ place, sent: other, received: known }))
      : steps.map(({ place, known, other }) => ({ place, sent: known, received: other }));
  let tokenId = sellTokenId;
  const route = amounts.map(({ place, sent, received }): QuoteStep => {
    const pool = poolAt(place);
    const stepSells = tokenId;
    tokenId = pool.token1Id === tokenId ? pool.token2Id : pool.token1Id;
    return { pool, sellTokenId: stepSells, buyTokenId: tokenId, sellAmount: sent, buyAmount: received };
  });
  return {
    beaconHeight: state.beaconHeight,
    sellTokenId,
    buyTokenId,
    sellAmount: route[0]?.sellAmount ?? 0n,
    buyAmount: route.at(-1)?.buyAmount ?? 0n,
    route,
  };
}

/** The search that a request needs; `undefined` if no pool has one of the tokens. */
export function toRouteSearch(graph: PoolGraph, request: QuoteRequest): RouteSearch | undefined {
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
