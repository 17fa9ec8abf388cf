import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState, PoolDirectory } from '../domain/exchange.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import { changedPlaces, type PriceSelection, selectPlaces } from '../domain/pool-selection.ts';
import { BadUserInputError, HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import { isFarAhead } from '../live/chain/recent-heads.ts';
import type { TokenSource } from '../live/tokens.ts';
import type { Loaders } from './loaders.ts';
import type { PoolCache } from './pool-cache.ts';
import { withFilledIn } from './several-values.ts';
import { createSourceStream, type SourceStream } from './source-stream.ts';
import { subscribeTo } from './stream-starts.ts';

/** The prices at one height, as one subscriber gets them. */
export type PriceUpdate = {
  readonly head: Head;
  /** The height of the update before, or the height after which the subscription resumed; `undefined` for neither. */
  readonly previousHeight: BeaconHeight | undefined;
  readonly poolPairs: readonly PoolPair[];
};

/** The arguments of `prices`. */
export type PricesArguments = {
  readonly poolPairs?: PriceSelection['poolPairs'] | null;
  readonly tokenIds?: PriceSelection['tokenIds'] | null;
  readonly onlyChanged?: boolean | null | undefined;
  /** The height of the last update that the client received before it lost its connection. */
  readonly afterHeight?: BeaconHeight | null | undefined;
};

/**
 * The prices of pools.
 *
 * @throws BadUserInputError for an empty list, HeightNotAvailableError for an `afterHeight` far in the future
 */
export async function createPriceStream(
  { poolPairs, tokenIds, onlyChanged, afterHeight }: PricesArguments,
  { sources, options: { afterEvent } }: Pick<Loaders, 'sources' | 'options'>,
): Promise<SourceStream<Head, PriceUpdate>> {
  if (poolPairs?.length === 0)
    throw new BadUserInputError('poolPairs is empty. List at least one pool, or omit the argument.');
  if (tokenIds?.length === 0)
    throw new BadUserInputError('tokenIds is empty. List at least one token, or omit the argument.');

  const after = afterEvent ?? afterHeight ?? undefined;
  const resumed = after === undefined ? undefined : await sources.head.subscribeAfter(after);
  const heads = await subscribeTo(sources.head, resumed);
  const subscribe = sources.head.canFillIn ? withFilledIn(heads, after) : heads;
  const newest = sources.head.current();
  // A browser repeats `Last-Event-ID` for ever, so that height is not an error: the stream starts with the newest prices.
  if (afterEvent === undefined && after !== undefined && newest && isFarAhead(after, newest))
    throw new HeightNotAvailableError(after, newest.beaconHeight);
  const selection = { poolPairs: poolPairs ?? undefined, tokenIds: tokenIds ?? undefined };
  const select = createPoolSelector(sources.pools, selection);
  return createSourceStream<Head, PriceUpdate>({
    subscribe,
    toUpdate: (head, previous) => ({
      head,
      previousHeight: previous?.beaconHeight ?? (after && isFarAhead(after, head) ? undefined : after),
      // The first update is complete also after a resume: the block that the client has seen may have been replaced.
      poolPairs: select(
        head.exchange,
        onlyChanged && !haveTokensChanged(sources.tokens, previous) ? previous?.exchange : undefined,
      ),
    }),
    dependsOnPrevious: true,
    headOf: (head) => head,
    heightOf: ({ beaconHeight }) => beaconHeight,
    resumesAfter: after,
  });
}

/** Whether a token has changed since a head was read. Then prices can differ although the reserves do not. */
function haveTokensChanged({ service }: TokenSource, head: Head | undefined): boolean {
  return head !== undefined && (service?.changedAt() ?? Number.NEGATIVE_INFINITY) >= head.observedAt;
}

/**
 * Creates the function that selects the pools of one subscription: only those that changed, if an earlier state is passed. It
 * looks for them again only when the state has another directory.
 */
function createPoolSelector(pools: PoolCache, selection: PriceSelection) {
  let found: { readonly directory: PoolDirectory; readonly places: readonly number[] } | undefined;

  return (state: ExchangeState, before: ExchangeState | undefined): PoolPair[] => {
    const { directory } = state;
    if (found?.directory !== directory) found = { directory, places: selectPlaces(state, selection) };
    const places = before === undefined ? found.places : changedPlaces(state, found.places, before);
    const { at } = pools.of(state);
    return places.map((place) => at(place));
  };
}
