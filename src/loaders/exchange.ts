import DataLoader from 'dataloader';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import { filterFingerprint, formatCursor } from '../domain/cursor.ts';
import { type ExchangeState, findPoolPair } from '../domain/exchange.ts';
import { cutPage, type Page, type PoolPairOrder, positionOf } from '../domain/page.ts';
import { type PoolPair, pin } from '../domain/pool-pair.ts';
import type { TokenId } from '../domain/token-id.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import type { HeadPin } from './head-pin.ts';
import { type PageArguments, readPageArguments } from './page-arguments.ts';
import type { PoolCache } from './pool-cache.ts';
import type { TokenLoader } from './token.ts';

/** A page of pools, each with a way to go on from it. */
export type PoolPairPage = Page<PoolPair> & { cursorOf(pool: PoolPair): string };

/** What a client may say of the pools it wants. */
export type PoolPairFilterInput = {
  readonly tokenId?: TokenId | null | undefined;
  readonly symbols?: readonly string[] | null | undefined;
  readonly nonEmpty?: boolean | null | undefined;
};

/** A list of pools, as a client asks for it. */
export type PoolPairsArguments = PageArguments & {
  readonly filter?: PoolPairFilterInput | null | undefined;
  readonly orderBy?: PoolPairOrder | null | undefined;
};

/** The order of pools where the client names none. */
export const DEFAULT_ORDER: PoolPairOrder = 'ID_ASC';

/** The exchange, at the answer's height or at an earlier one. */
export type ExchangeLoader = {
  /** @throws HeightNotAvailableError, UpstreamError */
  state(at?: BeaconHeight | null): MaybePromise<ExchangeState>;
  /** The pool of two tokens, named in either order; pinned where a height is given. */
  poolPair(a: TokenId, b: TokenId, at?: BeaconHeight | null): MaybePromise<PoolPair | undefined>;
  /** @throws BadUserInputError for a page that cannot be */
  poolPairs(args: PoolPairsArguments): MaybePromise<PoolPairPage>;
};

/** What an exchange loader is made of. */
export type ExchangeLoaderOptions = {
  readonly head: HeadPin;
  readonly pastStates: PastStates;
  readonly pools: PoolCache;
  readonly tokens: TokenLoader;
  readonly maxPageSize: number;
  readonly requester: Requester;
};

/** Makes the exchange loader of one answer: however many fields name a height, its state is read once. */
export function createExchangeLoader(options: ExchangeLoaderOptions): ExchangeLoader {
  const { head, pastStates, pools, tokens, maxPageSize, requester } = options;
  /** Made when the first past height is asked for: most answers ask for none. */
  let pastStatesOfAnswer: DataLoader<BeaconHeight, ExchangeState> | undefined;

  async function readPast(heights: readonly BeaconHeight[]): Promise<(ExchangeState | Error)[]> {
    // The same head for all of them; each height notes whether what is read of it depends on that head.
    const [pinned] = await Promise.all(heights.map((height) => head.getFor(height)));
    return pinned === undefined ? [] : pastStates.readAll(heights, pinned, requester);
  }

  function state(at?: BeaconHeight | null): MaybePromise<ExchangeState> {
    const pinned = at == null ? head.current() : undefined;
    return pinned?.exchange ?? readState(at);
  }

  async function readState(at?: BeaconHeight | null): Promise<ExchangeState> {
    const { beaconHeight, exchange } = at == null ? await head.get() : await head.getFor(at);
    if (at == null || at === beaconHeight) return exchange;
    if (at > beaconHeight) throw new HeightNotAvailableError(at, beaconHeight);
    pastStatesOfAnswer ??= new DataLoader(readPast);
    return pastStatesOfAnswer.load(at);
  }

  function poolPair(a: TokenId, b: TokenId, at?: BeaconHeight | null): MaybePromise<PoolPair | undefined> {
    return andThen(state(at), (exchange) => {
      if (at == null) return pools.of(exchange).find(a, b);
      const pool = findPoolPair(exchange, a, b);
      return pool && pin(pool);
    });
  }

  function poolPairs(args: PoolPairsArguments): MaybePromise<PoolPairPage> {
    const order = args.orderBy ?? DEFAULT_ORDER;
    const filter = filterFingerprint(args.filter ?? {});
    const { request, at } = readPageArguments(args, { filter, order }, maxPageSize);

    return andThen(state(at), (exchange) => {
      const { beaconHeight } = exchange;
      const isCurrent = args.at == null && beaconHeight === head.currentFor(beaconHeight)?.beaconHeight;
      const statePools = isCurrent ? pools.of(exchange) : pools.pinned(exchange);
      const page = cutPage(statePools.select(toFilter(args.filter), order), request, order);
      const cursorOf = (pool: PoolPair) => formatCursor({ beaconHeight, filter, order, position: positionOf(pool) });
      return { ...page, cursorOf };
    });
  }

  function toFilter(filter: PoolPairFilterInput | null | undefined) {
    return {
      tokenId: filter?.tokenId ?? undefined,
      anyTokenOf: filter?.symbols == null ? undefined : tokens.withSymbols(filter.symbols),
      nonEmpty: filter?.nonEmpty ?? undefined,
    };
  }

  return { state, poolPair, poolPairs };
}
