import type { CandleInterval } from '../domain/candle.ts';
import { poolPairAt } from '../domain/exchange.ts';
import { type PoolPair, tokensKey } from '../domain/pool-pair.ts';
import {
  changedPlaces,
  createPlaceSelector,
  type PoolKey,
  type PriceSelection,
  placeOfKey,
} from '../domain/pool-selection.ts';
import { type CrossedBound, crossedBound } from '../domain/price.ts';
import type { TokenList } from '../domain/token.ts';
import { BadUserInputError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { TokenSource } from '../live/tokens.ts';
import type { SentArguments } from './arguments.ts';
import type { CandleMoment } from './closed-intervals.ts';
import { readPoolId } from './exchange.ts';
import { createResumableStream, type HeightUpdate, type ResumeArguments } from './head-streams.ts';
import { reservesIn } from './history-view.ts';
import { createPriceOfBase, noPool } from './pool-price.ts';
import { createSourceStream, type SourceStream, subscribeTo, toSeveral } from './source-stream.ts';
import type { LoaderInputs, Sources } from './sources.ts';

/** The prices at one height, as one subscriber gets them. */
export type PriceUpdate = HeightUpdate & { readonly poolPairs: readonly PoolPair[] };

/** The arguments of `prices`. */
export type PricesArguments = ResumeArguments & SentArguments<PriceSelection & { onlyChanged: boolean }>;

/**
 * The prices of pools.
 *
 * @throws BadUserInputError for an empty list, HeightNotAvailableError for an `afterHeight` far in the future
 */
export async function createPriceStream(
  { poolPairs, tokenIds, onlyChanged, ...resume }: PricesArguments,
  inputs: LoaderInputs,
): Promise<SourceStream<Head, PriceUpdate>> {
  if (poolPairs?.length === 0)
    throw new BadUserInputError('poolPairs is empty. List at least one pool, or omit the argument.');
  if (tokenIds?.length === 0)
    throw new BadUserInputError('tokenIds is empty. List at least one token, or omit the argument.');
  for (const key of poolPairs ?? []) requirePoolId(key);

  const { sources } = inputs;
  const placesIn = createPlaceSelector({ poolPairs: poolPairs ?? undefined, tokenIds: tokenIds ?? undefined });
  const stream = await createResumableStream<PriceUpdate>(
    resume,
    inputs,
    (update, previous) => {
      // The first update is complete also after a resume: the block that the client has seen may have been replaced.
      const before = onlyChanged && !haveTokensChanged(sources.tokens, previous) ? previous?.exchange : undefined;
      const { exchange } = update.head;
      const places = before ? changedPlaces(exchange, before, placesIn) : placesIn(exchange);
      return { ...update, poolPairs: places.map(sources.pools.of(exchange).at) };
    },
    sources.head.canFillIn ? ({ filledIn = [] }) => filledIn : undefined,
  );
  for (const key of poolPairs ?? []) if (key.poolId != null) requirePool(sources, key);
  return stream;
}

/** Whether a token has changed since a head was read. Then prices can differ although the reserves do not. */
function haveTokensChanged({ status }: TokenSource, head: Head | undefined): boolean {
  return head !== undefined && (status?.changedAt() ?? Number.NEGATIVE_INFINITY) >= head.observedAt;
}

/** The bounds of `priceCrossed`. */
export type BoundsArguments = SentArguments<{ above: number; below: number }>;

/** A price that crossed a bound, and its pool. */
export type PriceCrossing = CrossedBound & { readonly poolPair: PoolPair };

/** A price that crossed a bound at a head, and the place of its pool there. */
type Crossing = CrossedBound & { readonly head: Head; readonly place: number };

/**
 * The prices of a pool that cross a bound.
 *
 * @throws BadUserInputError for a pool that does not exist or has tokens with unknown decimals
 */
export async function createPriceCrossingStream(
  { above, below, ...key }: PoolKey & BoundsArguments,
  { sources, options: { afterEvent } }: LoaderInputs,
): Promise<SourceStream<Crossing, PriceCrossing>> {
  requirePoolId(key);
  const bounds = { above: above ?? undefined, below: below ?? undefined };
  // The first head is the one that the client saw last: the next one is compared with it.
  const resumed = afterEvent === undefined ? undefined : await sources.head.subscribeAfter(afterEvent - 1);
  const subscribe = await subscribeTo(sources.head, resumed);
  if (requirePool(sources, key)) requireKnownDecimals(sources, key);

  return createSourceStream<Crossing, PriceCrossing>({
    subscribe: toSeveral(subscribe, () => {
      let previous: Head | undefined;
      return (head) => {
        // Both prices are computed now: the tokens can have changed when the update is executed.
        const [before, tokens] = [previous, sources.tokens.current()];
        const place = placeOfKey(head.exchange, key);
        if (place === undefined) return [];
        // The pool is that of this head. Its own price before counts, also if another pool had the most liquidity then.
        const pool = poolPairAt(head.exchange, place);
        const price = priceIn(tokens, head, pool);
        // While the pool has no price, the last one counts.
        if (price !== undefined) previous = head;
        const crossed = before && crossedBound(priceIn(tokens, before, pool), price, bounds);
        return crossed ? [{ ...crossed, head, place }] : [];
      };
    }),
    toUpdate: ({ head, place, ...crossed }) => ({ ...crossed, poolPair: sources.pools.of(head.exchange).at(place) }),
    // Not the head: the next crossing may never come.
    identityOf: ({ head, price, previousPrice }) => [head.beaconHeight, head.hash, price, previousPrice].join(),
    headOf: ({ head }) => head,
    heightOf: ({ head }) => head.beaconHeight,
    resumesAfter: afterEvent,
  });
}

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
    identityOf: ({ head, closed }) => [head.beaconHeight, head.hash, closed].join(),
    headOf: ({ head }) => head,
    // A client that resumes after a closed candle gets the other ones that were closed at the same height.
    heightOf: ({ head, closed }) => (closed === undefined ? head.beaconHeight : undefined),
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

/** @returns whether a height can be read now @throws BadUserInputError if it has no pool with this key */
function requirePool({ head }: Sources, key: PoolKey): boolean {
  const current = head.current();
  if (current !== undefined && placeOfKey(current.exchange, key) === undefined) throw noPool(key);
  return current !== undefined;
}

/** @throws BadUserInputError if the pool has no price because the decimals of a token are unknown */
function requireKnownDecimals({ tokens }: Sources, { token1Id, token2Id }: PoolKey): void {
  const unknown = [token1Id, token2Id].find((tokenId) => tokens.current().get(tokenId)?.decimals === undefined);
  if (unknown === undefined) return;
  throw new BadUserInputError(`The pool has no price, because the decimals of the token ${unknown} are unknown.`);
}

/** The price of a pool at a head; `undefined` if it has none, or if the pool does not exist there. */
function priceIn(tokens: TokenList, head: Head, pool: PoolPair): number | undefined {
  return createPriceOfBase(pool, {}, tokens, pool.token2Id)(reservesIn(head, pool));
}
