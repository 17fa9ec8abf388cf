import type { BeaconHeight } from '../domain/beacon-height.ts';
import { placeOf } from '../domain/exchange.ts';
import { type PoolPair, parsePoolPairId } from '../domain/pool-pair.ts';
import type { PoolTrade } from '../domain/trade.ts';
import { BadUserInputError, HeightNotAvailableError, UpstreamBadShapeError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import { isFarAhead } from '../live/chain/recent-heads.ts';
import { readPoolId } from './exchange.ts';
import type { Loaders } from './loaders.ts';
import { createSourceStream, type SourceStream, subscribeTo, toSeveral } from './source-stream.ts';
import type { LoaderInputs, Sources } from './sources.ts';

/** A trade through one pool, with the block that records it, and the pool after that block. */
export type TradeOfBlock = { readonly trade: PoolTrade; readonly head: Head; readonly pool: PoolPair };

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

/** What names a trade. */
type TradeName = Pick<PoolTrade, 'transactionId' | 'step'> & { readonly beaconHeight: BeaconHeight };

/**
 * The trade with a name, of the heads that are remembered. `undefined` if its block does not have it.
 *
 * @throws HeightNotAvailableError for an earlier block, UpstreamError if the block cannot be read
 */
export async function findTrade(name: TradeName, loaders: Loaders): Promise<TradeOfBlock | undefined> {
  const { sources, dependencies } = loaders;
  const newest = await loaders.head.get();
  const blockNow = () => sources.head.recent().find(({ beaconHeight }) => beaconHeight === name.beaconHeight);
  const head = name.beaconHeight === newest.beaconHeight ? newest : blockNow();
  dependencies.dependOn(blockNow, head);
  if (name.beaconHeight > newest.beaconHeight) return undefined;
  if (head === undefined) throw new HeightNotAvailableError(name.beaconHeight, newest.beaconHeight);
  const trades = await tradesOf({ head }, sources);
  return trades.find(({ trade }) => trade.transactionId === name.transactionId && trade.step === name.step);
}

/** The trades of an update, in the order of the block. @throws UpstreamError if the block, or one of its trades, cannot be read */
export async function tradesOf(
  { head, poolIds }: Pick<TradesUpdate, 'head'> & Partial<TradesUpdate>,
  sources: Sources,
): Promise<readonly TradeOfBlock[]> {
  const { trades, isComplete } = await sources.trades.of(head);
  if (!isComplete) throw new UpstreamBadShapeError('NODE', 'a trade of the block cannot be decoded');
  const selected = poolIds === undefined ? trades : trades.filter(({ poolId }) => poolIds.has(poolId));
  const { at } = sources.pools.of(head.exchange);
  return selected.flatMap((trade) => {
    const name = parsePoolPairId(trade.poolId);
    const place = name && placeOf(head.exchange.directory, name);
    return place === undefined ? [] : [{ trade, head, pool: at(place) }];
  });
}
