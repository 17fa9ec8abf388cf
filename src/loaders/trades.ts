import type { BeaconHeight } from '../domain/beacon-height.ts';
import { placeOf } from '../domain/exchange.ts';
import type { Pair } from '../domain/market.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { parsePoolPairId } from '../domain/pool-pair.ts';
import type { TokenId, TokenList } from '../domain/token.ts';
import { averagePrice } from '../domain/trade.ts';
import { BadUserInputError, HeightNotAvailableError } from '../errors.ts';
import type { RecordedTrade, TradeName } from '../history/trade-store.ts';
import type { Head } from '../live/chain/head.ts';
import { isFarAhead } from '../live/chain/recent-heads.ts';
import { readPoolId } from './exchange.ts';
import { readTradesOf } from './known-trades.ts';
import type { Loaders } from './loaders.ts';
import { poolPrice, withPoolOf } from './pool-price.ts';
import type { TradeOfBlock } from './pool-trades.ts';
import { createSourceStream, type SourceStream, subscribeTo, toSeveral } from './source-stream.ts';
import type { LoaderInputs, Sources } from './sources.ts';

/** The trades of one block, as one subscriber gets them. */
export type TradesUpdate = {
  readonly head: Head;
  /** The height of the update before, or the height after which the subscription resumed; `undefined` for neither. */
  readonly previousHeight: BeaconHeight | undefined;
  /** The pools whose trades are selected; `undefined` for all. */
  readonly poolIds: ReadonlySet<string> | undefined;
};

/** The arguments of the subscription `trades`. */
type TradesArguments = {
  readonly poolIds?: readonly string[] | null | undefined;
  /** The height of the last update that the client received before it lost its connection. */
  readonly afterHeight?: BeaconHeight | null | undefined;
};

/**
 * The blocks whose trades a subscriber gets: one update for each height. A subscriber that is slow gets the heights that are still
 * remembered one after another, and skips older ones.
 *
 * @throws BadUserInputError for an empty list and for a text that is no pool id, HeightNotAvailableError for an `afterHeight` far in the
 *   future
 */
export async function createTradeStream(
  { poolIds, afterHeight }: TradesArguments,
  { sources, options: { afterEvent } }: LoaderInputs,
): Promise<SourceStream<Head, TradesUpdate>> {
  if (poolIds?.length === 0)
    throw new BadUserInputError('poolIds is empty. List at least one pool, or omit the argument.');
  const selected = poolIds == null ? undefined : new Set(poolIds);
  for (const poolId of selected ?? []) readPoolId(poolId);

  const after = afterEvent ?? afterHeight ?? undefined;
  const resumed = after === undefined ? undefined : await sources.head.subscribeAfter(after);
  const heads = await subscribeTo(sources.head, resumed);
  const newest = sources.head.current();
  // A browser repeats `Last-Event-ID` for ever, so that height is not an error: the stream starts with the newest block.
  if (afterEvent === undefined && after !== undefined && newest && isFarAhead(after, newest))
    throw new HeightNotAvailableError(after, newest.beaconHeight);
  const subscribe = toSeveral(heads, () => {
    let received = after;
    return (head: Head) => {
      const above = received ?? head.beaconHeight;
      received = head.beaconHeight;
      const skipped = sources.head
        .recent()
        .filter(({ beaconHeight }) => beaconHeight > above && beaconHeight < head.beaconHeight);
      return [...skipped, head];
    };
  });
  return createSourceStream<Head, TradesUpdate>({
    subscribe,
    toUpdate: (head, previous) => ({
      head,
      previousHeight: previous?.beaconHeight ?? (after && isFarAhead(after, head) ? undefined : after),
      poolIds: selected,
    }),
    dependsOnPrevious: true,
    headOf: (head) => head,
    heightOf: ({ beaconHeight }) => beaconHeight,
    resumesAfter: after,
  });
}

/**
 * The trade with a name, of a head that is remembered or from the history, with its pool at the height of the response. `undefined` if
 * its block does not have it.
 *
 * @throws HeightNotAvailableError if the trades of an earlier block are not known, HistoryUnavailableError, UpstreamError
 */
export async function findTrade(name: TradeName, loaders: Loaders): Promise<TradeOfBlock | undefined> {
  const { sources, dependencies, exchange } = loaders;
  const newest = await loaders.head.get();
  const blockNow = () => sources.head.recent().find(({ beaconHeight }) => beaconHeight === name.beaconHeight);
  const head = name.beaconHeight === newest.beaconHeight ? newest : blockNow();
  dependencies.dependOn(blockNow, head);
  if (name.beaconHeight > newest.beaconHeight) return undefined;
  const isNamed = ({ transactionId, step }: RecordedTrade) =>
    transactionId === name.transactionId && step === name.step;
  const trade = head
    ? (await readTradesOf(head, sources.trades)).find(isNamed)
    : await loaders.history.recordedTrade(name, newest.beaconHeight);
  const pool = trade && (await exchange.pool(trade.poolId));
  return pool && { trade, pool };
}

/** The trades of an update, in the order of the block. @throws UpstreamError if the block, or one of its trades, cannot be read */
export async function tradesOf(
  { head, poolIds }: Pick<TradesUpdate, 'head' | 'poolIds'>,
  sources: Sources,
): Promise<readonly TradeOfBlock[]> {
  const trades = await readTradesOf(head, sources.trades);
  const { at } = sources.pools.of(head.exchange);
  return trades.flatMap((trade) => {
    const name = poolIds?.has(trade.poolId) === false ? undefined : parsePoolPairId(trade.poolId);
    const place = name && placeOf(head.exchange.directory, name);
    return place === undefined ? [] : [{ trade, pool: at(place) }];
  });
}

/**
 * The average price of the newest known trade through the pool of a pair, in target tokens per base token.
 *
 * @returns `undefined` if there is no such pool or no trade, or if the decimals of a token are unknown
 * @throws HistoryUnavailableError, UpstreamError
 */
export function tradedPriceOf(
  pair: Pair,
  { exchange, tokens, history }: Pick<Loaders, 'exchange' | 'tokens' | 'history'>,
): MaybePromise<number | undefined> {
  return withPoolOf(pair, exchange, (pool) =>
    andThen(history.lastTrade(pool), (trade) => trade && priceOfTrade({ trade, pool }, pair.baseId, tokens.list)),
  );
}

/** The average price of one token in the other one over a trade; `undefined` if the decimals of a token are unknown. */
export function priceOfTrade({ trade, pool }: TradeOfBlock, baseId: TokenId, tokens: TokenList): number | undefined {
  const base = baseId === pool.token1Id ? 1 : 2;
  return poolPrice((_pool, d1, d2) => averagePrice(trade, d1, d2, base), pool, {}, tokens);
}
