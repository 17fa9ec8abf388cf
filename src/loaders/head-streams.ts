import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import { type ExchangeState, poolPairAt, versionOf } from '../domain/exchange.ts';
import { type PoolPair, tokensKey } from '../domain/pool-pair.ts';
import {
  changedPlaces,
  type PoolKey,
  type PriceSelection,
  placeOfKey,
  selectPlaces,
} from '../domain/pool-selection.ts';
import { type CrossedBound, crossedBound, priceOfToken2 } from '../domain/price.ts';
import type { TokenList } from '../domain/token.ts';
import { BadUserInputError, HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import { isFarAhead } from '../live/chain/recent-heads.ts';
import type { TokenSource } from '../live/tokens.ts';
import type { CandleMoment } from './closed-intervals.ts';
import { readPoolId } from './exchange.ts';
import { reservesIn } from './history-view.ts';
import type { PoolCache } from './pool-cache.ts';
import { noPool, poolPrice } from './pool-price.ts';
import { createSourceStream, type SourceStream, subscribeTo, toSeveral, withFilledIn } from './source-stream.ts';
import type { LoaderInputs, Sources } from './sources.ts';

/** The current head first, then each new one. */
export async function createHeadStream({ sources }: Pick<LoaderInputs, 'sources'>): Promise<SourceStream<Head, Head>> {
  const subscribe = await subscribeTo(sources.head);
  return createSourceStream<Head, Head>({ subscribe, toUpdate: (head) => head, headOf: (head) => head });
}

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
  { sources, options: { afterEvent } }: LoaderInputs,
): Promise<SourceStream<Head, PriceUpdate>> {
  if (poolPairs?.length === 0)
    throw new BadUserInputError('poolPairs is empty. List at least one pool, or omit the argument.');
  if (tokenIds?.length === 0)
    throw new BadUserInputError('tokenIds is empty. List at least one token, or omit the argument.');
  for (const key of poolPairs ?? []) requirePoolId(key);

  const after = afterEvent ?? afterHeight ?? undefined;
  const resumed = after === undefined ? undefined : await sources.head.subscribeAfter(after);
  const heads = await subscribeTo(sources.head, resumed);
  const subscribe = sources.head.canFillIn ? withFilledIn(heads, after) : heads;
  const newest = sources.head.current();
  // A browser repeats `Last-Event-ID` for ever, so that height is not an error: the stream starts with the newest prices.
  if (afterEvent === undefined && after !== undefined && newest && isFarAhead(after, newest))
    throw new HeightNotAvailableError(after, newest.beaconHeight);
  for (const key of poolPairs ?? []) if (key.poolId != null) requirePool(sources, key);
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
 * looks for them again only when the state has another directory, or if the liquidity of a height decides.
 */
function createPoolSelector(pools: PoolCache, selection: PriceSelection) {
  const namesAll = (selection.poolPairs ?? []).every(({ poolId }) => poolId != null);
  let found: { readonly state: ExchangeState; readonly places: readonly number[] } | undefined;

  function placesIn(state: ExchangeState): readonly number[] {
    const isSame = state.directory === found?.state.directory && (namesAll || versionOf(state) === 'V1');
    if (found === undefined || !(isSame || state === found.state))
      found = { state, places: selectPlaces(state, selection) };
    return found.places;
  }

  return (state: ExchangeState, before: ExchangeState | undefined): PoolPair[] => {
    const placesBefore = before && placesIn(before);
    const selected = placesIn(state);
    const places = before && placesBefore ? changedPlaces(state, selected, before, placesBefore) : selected;
    const { at } = pools.of(state);
    return places.map((place) => at(place));
  };
}

/** The bounds of `priceCrossed`. */
export type BoundsArguments = {
  readonly above?: number | null | undefined;
  readonly below?: number | null | undefined;
};

/** A price that crossed a bound, and its pool. */
export type PriceCrossing = CrossedBound & { readonly poolPair: PoolPair };

/** Two heads of which a subscriber received the second one next. */
type HeadStep = {
  readonly previous: Head;
  readonly head: Head;
  /** The tokens with which both are compared, also after a token has changed. */
  readonly tokens: TokenList;
};

/** Which candle of a pool is sent next. @throws BadUserInputError for a pool that does not exist */
export async function createCandleStream(
  { interval, ...pool }: PoolKey & { readonly interval: CandleInterval },
  { sources, options: { afterEvent } }: LoaderInputs,
): Promise<SourceStream<CandleMoment, CandleMoment>> {
  requirePoolId(pool);
  const subscribe = await subscribeTo(sources.head);
  requirePool(sources, pool);
  return createSourceStream<CandleMoment, CandleMoment>({
    subscribe: toSeveral(subscribe, () => {
      let received = afterEvent;
      return (head) => {
        const moments = sources.closedIntervals.momentsAt(head, interval, received);
        received = head.beaconHeight;
        return moments;
      };
    }),
    toUpdate: (moment) => moment,
    isSame: (a, b) => a.head === b.head && a.closed === b.closed,
    headOf: ({ head }) => head,
    // A client that resumes after a closed candle gets the other ones that were closed at the same height.
    heightOf: ({ head, closed }) => (closed === undefined ? head.beaconHeight : undefined),
    resumesAfter: afterEvent,
  });
}

/**
 * The prices of a pool that cross a bound.
 *
 * @throws BadUserInputError for a pool that does not exist or has tokens with unknown decimals
 */
export async function createPriceCrossingStream(
  { above, below, ...key }: PoolKey & BoundsArguments,
  { sources, options: { afterEvent } }: LoaderInputs,
): Promise<SourceStream<HeadStep, PriceCrossing>> {
  requirePoolId(key);
  const bounds = { above: above ?? undefined, below: below ?? undefined };
  // The first head is the one that the client saw last: the next one is compared with it.
  const resumed = afterEvent === undefined ? undefined : await sources.head.subscribeAfter(afterEvent - 1);
  const subscribe = await subscribeTo(sources.head, resumed);
  if (requirePool(sources, key) !== undefined) requireKnownDecimals(sources, key);
  // The pool is that of the second head. Its own price before counts, also if another pool had the most liquidity then.
  const crossingOf = ({ previous, head, tokens }: HeadStep) => {
    const pool = poolIn(head, key);
    return pool && crossedBound(priceIn(tokens, previous, pool), priceIn(tokens, head, pool), bounds);
  };

  return createSourceStream<HeadStep, PriceCrossing>({
    subscribe: toSeveral(subscribe, () => {
      let previous: Head | undefined;
      return (head) => {
        const tokens = sources.tokens.current();
        const step = previous && { previous, head, tokens };
        // While the pool has no price, the last one counts.
        const pool = poolIn(head, key);
        if (pool && priceIn(tokens, head, pool) !== undefined) previous = head;
        return step !== undefined && crossingOf(step) !== undefined ? [step] : [];
      };
    }),
    toUpdate(step) {
      const crossed = crossingOf(step);
      const place = placeOfKey(step.head.exchange, key);
      if (crossed === undefined || place === undefined) throw new Error('The price crossed no bound.');
      return { ...crossed, poolPair: sources.pools.of(step.head.exchange).at(place) };
    },
    isSame: (a, b) => a.head === b.head && a.previous === b.previous && a.tokens === b.tokens,
    headOf: ({ head }) => head,
    heightOf: ({ head }) => head.beaconHeight,
    resumesAfter: afterEvent,
  });
}

/** @throws BadUserInputError for a text that is not a pool id, and for that of a pool of other tokens */
function requirePoolId({ token1Id, token2Id, poolId }: PoolKey): void {
  if (poolId == null) return;
  const named = readPoolId(poolId);
  if (tokensKey(named.token1Id, named.token2Id) !== tokensKey(token1Id, token2Id))
    throw new BadUserInputError('poolId is the id of a pool of other tokens than token1Id and token2Id.');
}

/** The current pool of a key; `undefined` if no height can be read now. @throws BadUserInputError if there is none */
function requirePool({ head }: Sources, key: PoolKey): PoolPair | undefined {
  const current = head.current();
  if (current === undefined) return undefined;
  const found = poolIn(current, key);
  if (found === undefined) throw noPool(key);
  return found;
}

function poolIn({ exchange }: Head, key: PoolKey): PoolPair | undefined {
  const place = placeOfKey(exchange, key);
  return place === undefined ? undefined : poolPairAt(exchange, place);
}

/** @throws BadUserInputError if the pool has no price because the decimals of a token are unknown */
function requireKnownDecimals({ tokens }: Sources, { token1Id, token2Id }: PoolKey): void {
  const unknown = [token1Id, token2Id].find((tokenId) => tokens.current().get(tokenId)?.decimals === undefined);
  if (unknown === undefined) return;
  throw new BadUserInputError(`The pool has no price, because the decimals of the token ${unknown} are unknown.`);
}

/** The price of a pool at a head; `undefined` if it has none, or if the pool does not exist there. */
function priceIn(tokens: TokenList, head: Head, pool: PoolPair): number | undefined {
  const reserves = reservesIn(head, pool);
  return reserves && poolPrice((_pool, d1, d2) => priceOfToken2(reserves, d1, d2), pool, {}, tokens);
}
