import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { CandleInterval } from '../domain/candle.ts';
import { type ExchangeState, findPoolPair, type PoolDirectory } from '../domain/exchange.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import { changedPlaces, type PriceSelection, selectPlaces } from '../domain/pool-selection.ts';
import { priceOfToken2 } from '../domain/price.ts';
import { type CrossedBound, crossedBound } from '../domain/price-change.ts';
import type { TokenId, TokenList } from '../domain/token.ts';
import { BadUserInputError, HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import { isFarAhead } from '../live/chain/recent-heads.ts';
import type { TokenSource } from '../live/tokens.ts';
import type { CandleMoment } from './closed-intervals.ts';
import type { Loaders } from './loaders.ts';
import type { PoolCache } from './pool-cache.ts';
import { noPool } from './pool-price.ts';
import { createSourceStream, type SourceStream } from './source-stream.ts';
import type { Sources } from './sources.ts';
import { type HeadStep, subscribeTo, toSeveral, withFilledIn } from './stream-operators.ts';

/** The current head first, then each new one. */
export async function createHeadStream({ sources }: Pick<Loaders, 'sources'>): Promise<SourceStream<Head, Head>> {
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

/** The two tokens of a pool, in either order. */
type PoolTokens = { readonly token1Id: TokenId; readonly token2Id: TokenId };

/** The bounds of `priceCrossed`. */
export type BoundsArguments = {
  readonly above?: number | null | undefined;
  readonly below?: number | null | undefined;
};

/** A price that crossed a bound, and its pool. */
export type PriceCrossing = CrossedBound & { readonly poolPair: PoolPair };

/** Which candle of a pool is sent next. @throws BadUserInputError for a pool that does not exist */
export async function createCandleStream(
  { interval, ...pool }: PoolTokens & { readonly interval: CandleInterval },
  { sources, options: { afterEvent } }: Pick<Loaders, 'sources' | 'options'>,
): Promise<SourceStream<CandleMoment, CandleMoment>> {
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
  { above, below, ...pool }: PoolTokens & BoundsArguments,
  { sources, options: { afterEvent } }: Pick<Loaders, 'sources' | 'options'>,
): Promise<SourceStream<HeadStep, PriceCrossing>> {
  const bounds = { above: above ?? undefined, below: below ?? undefined };
  // The first head is the one that the client saw last: the next one is compared with it.
  const resumed = afterEvent === undefined ? undefined : await sources.head.subscribeAfter(afterEvent - 1);
  const subscribe = await subscribeTo(sources.head, resumed);
  const found = requirePool(sources, pool);
  if (found !== undefined) requireKnownDecimals(sources, found);
  const crossingOf = ({ previous, head, tokens }: HeadStep) =>
    crossedBound(priceIn(tokens, previous, pool), priceIn(tokens, head, pool), bounds);

  return createSourceStream<HeadStep, PriceCrossing>({
    subscribe: toSeveral(subscribe, () => {
      let previous: Head | undefined;
      return (head) => {
        const step = previous && sources.headSteps.between(previous, head);
        // While the pool has no price, the last one counts.
        if (priceIn(sources.tokens.current(), head, pool) !== undefined) previous = head;
        return step !== undefined && crossingOf(step) !== undefined ? [step] : [];
      };
    }),
    toUpdate(step) {
      const crossed = crossingOf(step);
      const poolPair = sources.pools.of(step.head.exchange).find(pool.token1Id, pool.token2Id);
      if (crossed === undefined || poolPair === undefined) throw new Error('The price crossed no bound.');
      return { ...crossed, poolPair };
    },
    headOf: ({ head }) => head,
    heightOf: ({ head }) => head.beaconHeight,
    resumesAfter: afterEvent,
  });
}

/** The current pool of two tokens; `undefined` if no height can be read now. @throws BadUserInputError if there is none */
function requirePool({ head }: Sources, { token1Id, token2Id }: PoolTokens): PoolPair | undefined {
  const current = head.current();
  if (current === undefined) return undefined;
  const found = findPoolPair(current.exchange, token1Id, token2Id);
  if (found === undefined) throw noPool();
  return found;
}

/** @throws BadUserInputError if the pool has no price because the decimals of a token are unknown */
function requireKnownDecimals({ tokens }: Sources, { token1Id, token2Id }: PoolTokens): void {
  const unknown = [token1Id, token2Id].find((tokenId) => tokens.current().get(tokenId)?.decimals === undefined);
  if (unknown === undefined) return;
  throw new BadUserInputError(`The pool has no price, because the decimals of the token ${unknown} are unknown.`);
}

/** The price of a pool at a head; `undefined` if it has none. */
function priceIn(tokens: TokenList, { exchange }: Head, { token1Id, token2Id }: PoolTokens): number | undefined {
  const pool = findPoolPair(exchange, token1Id, token2Id);
  if (pool === undefined) return undefined;
  const decimals1 = tokens.get(pool.token1Id)?.decimals;
  const decimals2 = tokens.get(pool.token2Id)?.decimals;
  return decimals1 === undefined || decimals2 === undefined ? undefined : priceOfToken2(pool, decimals1, decimals2);
}
