import { type ExchangeState, placeOfId } from './exchange.ts';
import { type ExchangeSwaps, type Hop, leastAlong, sellAlong } from './exchange-swaps.ts';
import type { PoolGraph } from './pool-graph.ts';
import type { PoolPair } from './pool-pair.ts';
import type { SwapRefusal } from './pool-swap.ts';
import { type Quote, type QuoteRequest, type QuoteStep, toRouteSearch } from './quote.ts';
import { findRoute } from './route-search.ts';
import { tradeFee } from './trade-fee.ts';

/** Why the exchange refuses a trade along a route. */
type TradeRefusal = SwapRefusal | 'POOL_TWICE' | 'NO_SUCH_POOL' | 'ROUTE_DOES_NOT_FIT';

/** What a quote is computed from: a state of V3, the graph of its directory, its trades, and the pools at its places. */
type PoolsOfV3 = {
  readonly exchange: ExchangeState;
  graph(): PoolGraph;
  swaps(): ExchangeSwaps;
  at(place: number): PoolPair;
};

/**
 * The best quote of V3, by {@link findRoute}.
 *
 * @returns `undefined` if no route works: pools that refuse the trade are passed by
 */
export function bestQuoteV3(pools: PoolsOfV3, request: QuoteRequest): Quote | undefined {
  const graph = pools.graph();
  const search = toRouteSearch(graph, request);
  const found = search && findRoute(pools.swaps(), graph, search);
  const quote = found && quoteOf(pools, request, found.route);
  return typeof quote === 'string' ? undefined : quote;
}

/**
 * The quote along exactly these pools, or why the exchange refuses the trade. A bought amount that cannot be had is
 * `REAL_RESERVE_TOO_SMALL`.
 *
 * @param route ids of pools, in the order of the trade
 */
export function quoteAlong(pools: PoolsOfV3, request: QuoteRequest, route: readonly string[]): Quote | TradeRefusal {
  const { directory } = pools.exchange;
  if (new Set(route).size < route.length) return 'POOL_TWICE';
  const places: number[] = [];
  for (const id of route) {
    const place = placeOfId(directory, id);
    if (place === undefined) return 'NO_SUCH_POOL';
    places.push(place);
  }

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

/** The quote of a trade along a route: its steps have the amounts that the trade really moves, also if the client named the amount to buy. */
function quoteOf(pools: PoolsOfV3, request: QuoteRequest, hops: readonly Hop[]): Quote | SwapRefusal {
  const { exchange } = pools;
  const { sellTokenId, buyTokenId } = request;
  const swaps = hops.map((hop) => pools.swaps().swapOf(hop));
  const sold = request.sellAmount ?? leastAlong(swaps, request.buyAmount);
  if (sold === undefined) return 'REAL_RESERVE_TOO_SMALL';
  const amounts = sellAlong(swaps, sold);
  if (typeof amounts === 'string') return amounts;

  const route = hops.map(({ place, side }, index): QuoteStep => {
    const pool = pools.at(place);
    const [sellToken, buyToken] = side === 0 ? [pool.token1Id, pool.token2Id] : [pool.token2Id, pool.token1Id];
    const [sellAmount = 0n, buyAmount = 0n] = amounts.slice(index);
    return { pool, sellTokenId: sellToken, buyTokenId: buyToken, sellAmount, buyAmount };
  });
  return {
    beaconHeight: exchange.beaconHeight,
    sellTokenId,
    buyTokenId,
    sellAmount: sold,
    buyAmount: amounts.at(-1) ?? 0n,
    route,
    fee: tradeFee(
      exchange,
      hops.map(({ place }) => place),
      sellTokenId,
      sold,
    ),
  };
}
