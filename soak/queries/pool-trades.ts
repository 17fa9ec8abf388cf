import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { isV3, type TradingPool, tradingPools } from '../expected/exchange.ts';
import { fieldMismatch } from '../expected/market.ts';
import {
  isInWindow,
  pageMismatch,
  type TradePage,
  type TradePlace,
  VOLUME_FIELDS,
  type Volume,
  volumeMismatch,
} from '../expected/pool-trades.ts';
import { isNear, TRADE_FIELDS, type TradeResult } from '../expected/trades.ts';
import type { Operation } from '../judge.ts';
import { poolQuery } from './heads.ts';

/** The trades of a pool in a response. */
export type TradesOfPool = {
  readonly trades?: {
    readonly nodes: readonly (TradeResult & { readonly poolPair: object })[];
    readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
  } | null;
  readonly volume?: Volume | null;
};
type Data = {
  readonly beaconHeight?: number;
  readonly pool?: TradesOfPool | null;
  readonly ticker?: { readonly tradedPrice?: number | null } | null;
};

/** Which trades are requested. */
type Selection = {
  readonly pool: TradingPool;
  readonly hours: number;
  readonly first: number;
  readonly after?: { readonly cursor: string; readonly place: TradePlace } | undefined;
};

/** The newest trades of a pool, its volume and the price of its last trade, all at one height. */
export function poolTradesQuery(context: SoakContext, random: Random): Operation {
  const { chain } = context.shown;
  if (!isV3(chain)) return poolQuery(context, random);
  return tradesQuery(context, {
    pool: pick(random, tradingPools(chain)),
    hours: pick(random, [1, 1, 1, 2, 24]),
    first: pick(random, [1, 5, 50, 500]),
  });
}

/** A page of the trades of a pool. */
export function tradesQuery(
  { shown, served, judge }: SoakContext,
  { pool, hours, first, after }: Selection,
): Operation {
  const { chain } = shown;
  const market = chain.markets.find(({ poolId }) => poolId === pool.id);

  function ofBlock({ pool: found, ticker }: Data, block: Block): string | undefined {
    if (!found) return 'the pool is null';
    const { trades, volume } = found;
    if (trades === null || volume === null) return 'the trades or the volume are null';
    const isKnown = (each: Block) => each === block || (volume?.isComplete === true && isInWindow(each, block, hours));
    const expectedPool = { poolId: pool.id, beaconHeight: block.height };
    const ofOther = trades?.nodes.find(({ poolPair }) => JSON.stringify(poolPair) !== JSON.stringify(expectedPool));
    if (ofOther !== undefined) return `the pool of a trade is ${JSON.stringify(ofOther.poolPair)}`;
    const page = trades && pageOf(trades, first, after?.place);
    return (
      (page && pageMismatch(shown, block, pool, page, isKnown)) ??
      (volume && volumeMismatch(shown, block, pool, hours, volume)) ??
      fieldMismatch(ticker, 'ticker', ({ tradedPrice }) =>
        page && volume && tradedPrice !== undefined ? priceMismatch(page, tradedPrice, volume.isComplete) : undefined,
      )
    );
  }

  /**
   * The price of the last trade is that of the first one of the list. It is read once for a head, so that a block that is known since
   * then can be missing: then it is that of another trade of the list.
   */
  function priceMismatch({ nodes, after: place }: TradePage, tradedPrice: number | null, isComplete: boolean) {
    if (place !== undefined) return undefined;
    const isOfBase = market?.base.id === market?.token2.id;
    const prices = nodes.map(({ price }) => (price === null || isOfBase ? price : 1 / price));
    const isRight = isComplete
      ? isNear(tradedPrice, prices[0] ?? null)
      : tradedPrice === null || prices.some((price) => isNear(tradedPrice, price)) || nodes.length < 5;
    return isRight ? undefined : `tradedPrice is ${tradedPrice}, the last trades have ${prices}`;
  }

  return {
    kind: after === undefined ? 'trades and volume of a pool' : 'a page of trades',
    query: `query ($poolId: String!, $hours: Int!, $first: Int!, $after: String, $hasTicker: Boolean!) {
      beaconHeight
      pool(poolId: $poolId) {
        trades(first: $first, after: $after) {
          nodes { ${TRADE_FIELDS} poolPair { poolId beaconHeight } } pageInfo { endCursor hasNextPage }
        }
        volume(hours: $hours) { ${VOLUME_FIELDS} }
      }
      ticker(poolId: $poolId) @include(if: $hasTicker) { tradedPrice }
    }`,
    variables: { poolId: pool.id, hours, first, after: after?.cursor, hasTicker: market !== undefined },
    checksParts: true,
    tradesSince: ({ beaconHeight }: Data) => shown.shownAt(beaconHeight ?? 0),
    check(data: Data, times) {
      const { beaconHeight, pool: found } = data;
      if (beaconHeight === undefined || found === undefined) return undefined;
      const { isComplete } = found?.volume ?? {};
      if (isComplete !== undefined)
        judge.count(isComplete ? 'volumes that are complete' : 'volumes that are not complete');
      return served.mismatch(beaconHeight, times, (block) => ofBlock(data, block));
    },
  };
}

function pageOf(
  { nodes, pageInfo: { hasNextPage } }: NonNullable<TradesOfPool['trades']>,
  first: number,
  after: TradePlace | undefined,
): TradePage {
  const withoutPool = nodes.map(({ poolPair: _, ...trade }) => trade as TradeResult);
  return { nodes: withoutPool, first, hasNextPage, after };
}
