import { toDecimal } from '../domain/amount.ts';
import {
  areSettled,
  type Candle,
  type CandleInterval,
  type CandleRange,
  extendCandles,
  INTERVAL_MS,
  type RecordedCandles,
  selectCandles,
  toCandle,
} from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import type { PoolKey } from '../domain/pool-selection.ts';
import type { Traded } from '../domain/reserves.ts';
import { BadUserInputError, HistoryUnavailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import { requireAtLeast, requireWithin, type SentArguments } from './arguments.ts';
import type { CandleMoment } from './closed-intervals.ts';
import { createPoolBatches, type HistoryView, type PoolsAtHeight, reservesIn } from './history-view.ts';
import { rangeAround, type TradedIn, toExactIntervals } from './known-trades.ts';
import { createPriceOfBase, type DecimalsArguments, noPool, type PriceOf, requireDecimals } from './pool-price.ts';

/** What was traded in an interval, in smallest units and in whole tokens. */
export type CandleVolumes = Traded & {
  /** Of token 2; `undefined` if its decimals are unknown. */
  readonly volume: number | undefined;
  /** The same of token 1. */
  readonly inverseVolume: number | undefined;
  /** Whether they are the sums of all trades. If not, they are net changes, and more can have been traded. */
  readonly isExact: boolean;
};

/** A candle, and how its prices are computed: of token 2 in token 1, and of token 1 in token 2. */
export type PricedCandle = Candle & {
  /** Of the pool; `undefined` in V1. */
  readonly poolId: string | undefined;
  readonly priceOf: PriceOf;
  readonly inversePriceOf: PriceOf;
  /** The trades of all candles are read once, when a client first needs volumes. @throws HistoryUnavailableError */
  volumes(): MaybePromise<CandleVolumes>;
};

type CandlesArguments = DecimalsArguments &
  SentArguments<{ from: Instant; to: Instant; last: number }> & { readonly interval: CandleInterval };

/** How many candles are returned if `last` is not set. */
export const DEFAULT_CANDLES = 100;

/** Checks the arguments, except for the limits of this gateway. @throws BadUserInputError */
export function requireCandleArguments(args: CandlesArguments): void {
  requireDecimals(args);
  const { from, to, last } = args;
  if (from != null && to != null && from >= to)
    throw new BadUserInputError('from is not before to. An interval that begins at to is not part of the result.');
  requireAtLeast(1, 'last', last);
}

type CandlesRange = CandleRange & Pick<CandlesArguments, 'interval'>;

type ReadFrom = Pick<RecordedCandles, 'recordedTo'> &
  Pick<CandlesRange, 'interval'> & { readonly heads: readonly Head[] };

/** Creates the loader of the candles of the pools of one response. Its methods throw HistoryUnavailableError. */
export function createCandleLoader(view: HistoryView) {
  const { history, read, versions, tokens, options } = view;
  const load = createPoolBatches(readCandles);
  const loadExact = createPoolBatches(readExact);

  async function readExact(
    pools: PoolsAtHeight,
    { interval, from, to }: ReturnType<typeof rangeAround> & Pick<CandlesRange, 'interval'>,
  ): Promise<TradedIn[]> {
    const [pool] = pools;
    const upTo = pool.beaconHeight;
    const version = history.tradesVersion();
    const poolIds = pools.map(poolPairId);
    const known = await view.readKnownTrades(
      pool,
      (memoryFrom) => history.tradedIntervals({ poolIds, interval, from, to, upTo, memoryFrom }),
      { isNeeded: ({ time }) => time >= from && time < to, isNewestNeeded: false },
    );
    const exact = toExactIntervals(known, { interval, upTo });
    return pools.map(() => (candle, poolId) => {
      const traded = exact(candle, poolId);
      // Only missing trades can be recorded later.
      if (traded === undefined) versions.trades.depend(version);
      return traded;
    });
  }

  async function readCandles(pools: PoolsAtHeight, { interval, ...range }: CandlesRange) {
    const [pool] = pools;
    const upTo = pool.beaconHeight;
    const version = history.version();
    const newest = view.timeOf(pool);
    const tip = view.tipFrom(upTo);
    // Before the store is read: what is recorded meanwhile is in both.
    const heads = view.headsOf(pool);
    const poolIds = pools.map(poolPairId);
    const { value, recordedTo } = await read(() => history.candles({ poolIds, interval, ...range, upTo }));
    const later = heads.filter(({ beaconHeight }) => beaconHeight > (recordedTo ?? 0));
    const recorded = await readNewest(poolIds, value, { recordedTo, interval, heads });

    return pools.map((each, index) => {
      const known = recorded.get(poolIds[index] ?? '') ?? { candles: [], recordedTo, reserves: undefined };
      const inMemory = later.map((head) => {
        const { beaconHeight, time } = head;
        return { beaconHeight, time, reserves: reservesIn(head, each) };
      });
      const extended = extendCandles(known, inMemory, { interval, upTo });
      const found = selectCandles(extended, range).map((candle) => toCandle(candle, interval, { newest, tip }));
      if (!areSettled(found, range, interval)) versions.recorded.depend(version);
      return found;
    });
  }

  /** Adds the reserves of pools at the newest recorded height to their candles. Most candles contain them. */
  async function readNewest(
    poolIds: readonly string[],
    candlesOf: ReadonlyMap<string, RecordedCandles['candles']>,
    { recordedTo, interval, heads }: ReadFrom,
  ): Promise<ReadonlyMap<string, RecordedCandles>> {
    const recorded = new Map(
      poolIds.map((id): [string, RecordedCandles] => {
        const candles = candlesOf.get(id) ?? [];
        const last = candles.at(-1);
        return [id, { candles, recordedTo, reserves: last?.lastHeight === recordedTo ? last?.close : undefined }];
      }),
    );
    const rest = poolIds.filter((id) => recorded.get(id)?.reserves === undefined);
    const newestHead = heads.at(-1)?.beaconHeight ?? 0;
    if (rest.length === 0 || recordedTo === undefined || newestHead <= recordedTo) return recorded;
    // The newest interval has the same heights for all pools. A new pool has no candle of it, so the candle of another pool is read.
    const inMemory = heads.findLast(({ beaconHeight }) => beaconHeight <= recordedTo)?.exchange;
    const anyPool = (inMemory ?? (await read(() => history.stateAt(recordedTo))))?.directory.ids[0] ?? '';

    const [reserves, ofAnyPool] = await Promise.all([
      read(() => history.reservesAt({ poolIds: rest, heights: [recordedTo] })),
      read(() => history.candles({ poolIds: [anyPool], interval, upTo: recordedTo, last: 1 })),
    ]);
    const newest = ofAnyPool.value.get(anyPool)?.at(-1);
    for (const id of rest)
      recorded.set(id, { candles: candlesOf.get(id) ?? [], recordedTo, reserves: reserves.get(id)?.[0], newest });
    return recorded;
  }

  /** The candles up to the height of the pool, oldest first. @throws BadUserInputError for more than a limit */
  async function candles(pool: PoolPair, args: CandlesArguments): Promise<readonly PricedCandle[]> {
    const { interval, from, to } = args;
    const last = args.last ?? DEFAULT_CANDLES;
    requireWithin(options.maxCandles, 'last', last);
    const priceOf = createPriceOfBase(pool, args, tokens.list, pool.token2Id);
    const inversePriceOf = createPriceOfBase(pool, args, tokens.list, pool.token1Id);
    const decimals1 = args.decimals1 ?? tokens.decimalsOf(pool.token1Id);
    const decimals2 = args.decimals2 ?? tokens.decimalsOf(pool.token2Id);
    const found = await load(pool, { interval, from: from ?? undefined, to: to ?? undefined, last });
    let tradedIn: MaybePromise<TradedIn> | undefined;
    const loadTradedIn = () => {
      tradedIn ??= loadExact(pool, { interval, ...rangeAround(found, interval) }).then((loaded) => {
        tradedIn = loaded;
        return loaded;
      });
      return tradedIn;
    };
    const toVolumes = (candle: Candle, exact: Traded | undefined): CandleVolumes => {
      const { traded1, traded2 } = exact ?? candle;
      const wholes = { volume: inWholeTokens(traded2, decimals2), inverseVolume: inWholeTokens(traded1, decimals1) };
      return { traded1, traded2, isExact: exact !== undefined, ...wholes };
    };
    return found.map((candle) => {
      const volumes = () =>
        pool.v3 === undefined
          ? toVolumes(candle, undefined)
          : andThen(loadTradedIn(), (traded) => toVolumes(candle, traded(candle, poolPairId(pool))));
      return { ...candle, poolId: pool.v3?.poolId, priceOf, inversePriceOf, volumes };
    });
  }

  return {
    candles,
    /** The candle that a subscription sends: a closed one, or the newest one. @throws BadUserInputError if there is no pool */
    async candleAt(
      pool: PoolPair | undefined,
      { closed }: CandleMoment,
      args: CandlesArguments & Pick<PoolKey, 'poolId'>,
    ): Promise<PricedCandle> {
      if (pool === undefined) throw noPool(args);
      const to = closed === undefined ? undefined : closed + INTERVAL_MS[args.interval];
      const [candle] = await candles(pool, { ...args, from: closed, to, last: 1 });
      // A pool that is newer than the closed interval has no candle of it.
      const [newest] = candle === undefined ? await candles(pool, { ...args, last: 1 }) : [candle];
      // The height is in memory, so it is missing only if the history is off.
      if (newest === undefined) throw new HistoryUnavailableError();
      return newest;
    },
  };
}

function inWholeTokens(amount: bigint, decimals: number | undefined): number | undefined {
  return decimals === undefined ? undefined : Number(toDecimal(amount, decimals));
}
