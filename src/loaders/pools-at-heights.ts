import DataLoader from 'dataloader';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type ExchangeState, findPoolPair } from '../domain/exchange.ts';
import { type PoolPair, pin } from '../domain/pool-pair.ts';
import type { TokenId } from '../domain/token.ts';
import type { UsdPrices } from '../domain/usd-prices.ts';
import { HeightNotAvailableError } from '../errors.ts';
import { createTurnQueue } from '../live/broadcast/turn-limit.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import type { Dependencies } from './dependencies.ts';
import type { HeadPin } from './head-pin.ts';
import type { Sources } from './sources.ts';
import type { TokenLoader } from './token.ts';

/** Names a pool at a height by its two tokens, in either order. */
type PoolAtHeight = { readonly height: BeaconHeight; readonly a: TokenId; readonly b: TokenId };

/** What the loaders of one operation read from. */
export type PoolsAtHeightsOptions = {
  readonly head: HeadPin;
  readonly dependencies: Dependencies;
  readonly tokens: TokenLoader;
  readonly sources: Pick<Sources, 'pastStates' | 'usdPrices'>;
  readonly options: { readonly requester: Requester };
};

/** What one operation reads at the heights that it names. */
export type PoolsAtHeights = {
  /** The exchange state at a height. Rejects with HeightNotAvailableError or UpstreamError. */
  readonly states: DataLoader<BeaconHeight, ExchangeState>;
  /** A pool, pinned to its height; `undefined` if there is no such pool. Rejects as `states` does. */
  readonly pools: DataLoader<PoolAtHeight, PoolPair | undefined, string>;
  /** What tokens are worth at a height. Rejects as `states` does. */
  readonly usdPrices: DataLoader<BeaconHeight, UsdPrices>;
};

/**
 * Creates the loaders of one operation, which read each height once.
 *
 * The heights of a batch are read together: if the nodes have pruned them, a few calls show it for all.
 */
export function createPoolsAtHeights({
  head,
  dependencies,
  tokens,
  sources,
  options,
}: PoolsAtHeightsOptions): PoolsAtHeights {
  const { pastStates } = sources;
  const turns = createTurnQueue();

  async function readStates(heights: readonly BeaconHeight[]): Promise<(ExchangeState | Error)[]> {
    const pinned = await head.getFor(heights);
    const { beaconHeight, exchange } = pinned;
    const past = heights.filter((height) => height < beaconHeight);
    const found = await pastStates.readAll(past, pinned, options.requester);
    const pastStateOf = new Map(past.map((height, index) => [height, found[index]]));
    return heights.map((height) => {
      if (height === beaconHeight) return exchange;
      const state = pastStateOf.get(height) ?? new HeightNotAvailableError(height, beaconHeight);
      // The state of a damaged node must not stay in any cache.
      const isCacheable = state instanceof Error || pastStates.isComplete(state);
      return isCacheable ? state : dependencies.expireNow(state);
    });
  }

  const states = new DataLoader(readStates);

  async function readPools(keys: readonly PoolAtHeight[]): Promise<(PoolPair | Error | undefined)[]> {
    const found = await states.loadMany(keys.map(({ height }) => height));
    return keys.map(({ a, b }, index) => {
      const state = found[index];
      if (state === undefined || state instanceof Error) return state;
      const pool = findPoolPair(state, a, b);
      return pool && pin(pool);
    });
  }

  /** Computes those of one height in each turn of the event loop. */
  async function readUsdPrices(heights: readonly BeaconHeight[]): Promise<(UsdPrices | Error)[]> {
    const found = await states.loadMany(heights);
    return Promise.all(
      found.map(async (state) => {
        await turns.wait();
        return state instanceof Error ? state : sources.usdPrices(state, tokens.list);
      }),
    );
  }

  const pools = new DataLoader<PoolAtHeight, PoolPair | undefined, string>(readPools, {
    cacheKeyFn: ({ height, a, b }) => (a < b ? `${a}-${b}@${height}` : `${b}-${a}@${height}`),
    // Before the batch of `states`, so that it contains the heights of pools and those of pages.
    batchScheduleFn: queueMicrotask,
  });
  return { states, pools, usdPrices: new DataLoader(readUsdPrices, { batchScheduleFn: queueMicrotask }) };
}
