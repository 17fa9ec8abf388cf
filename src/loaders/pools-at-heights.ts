import DataLoader from 'dataloader';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type ExchangeState, versionOf } from '../domain/exchange.ts';
import type { UsdPrices } from '../domain/usd-prices.ts';
import { HeightNotAvailableError } from '../errors.ts';
import { createTurnQueue } from '../turns/turns.ts';
import type { ResponseInputs } from './token.ts';

/** What one operation reads at the heights that it names. */
export type PoolsAtHeights = ReturnType<typeof createPoolsAtHeights>;

/**
 * Creates the loaders of one operation, which read each height once, those of a batch together. All reject with
 * HeightNotAvailableError or UpstreamError.
 */
export function createPoolsAtHeights({ head, dependencies, tokens, sources, options }: ResponseInputs) {
  const { pastStates } = sources;
  const takeTurn = createTurnQueue();

  async function readStates(heights: readonly BeaconHeight[], isV1: boolean): Promise<(ExchangeState | Error)[]> {
    const pinned = await head.getFor(heights);
    const { beaconHeight, exchange } = pinned;
    // Where the first version trades, its states are those of the heads.
    const isOther = isV1 && versionOf(exchange) === 'V3';
    const read = heights.filter((height) => height < beaconHeight || (isOther && height === beaconHeight));
    const found = await pastStates.readAll(read, pinned, options.requester, isOther ? 'V1' : undefined);
    const stateOf = new Map(read.map((height, index) => [height, found[index]]));
    return heights.map((height) => {
      if (height === beaconHeight && !isOther) return exchange;
      const state = stateOf.get(height) ?? new HeightNotAvailableError(height, beaconHeight);
      // The state of a damaged node must not stay in any cache.
      const isCacheable = state instanceof Error || pastStates.isComplete(state);
      return isCacheable ? state : dependencies.expireNow(state);
    });
  }

  /** The exchange at a height, of the version that traded there. */
  const states = new DataLoader<BeaconHeight, ExchangeState>((heights) => readStates(heights, false));
  /** The exchange of the first version at a height, also where the third one trades. */
  const v1States = new DataLoader<BeaconHeight, ExchangeState>((heights) => readStates(heights, true));

  /** Computes those of one height in each turn of the event loop. */
  async function readUsdPrices(heights: readonly BeaconHeight[]): Promise<(UsdPrices | Error)[]> {
    const found = await states.loadMany(heights);
    return Promise.all(
      found.map(async (state) => {
        await takeTurn();
        return state instanceof Error ? state : sources.usdPrices(state, tokens.list);
      }),
    );
  }

  /** What tokens are worth at a height. */
  const usdPrices = new DataLoader(readUsdPrices, { batchScheduleFn: queueMicrotask });

  return { states, v1States, usdPrices };
}
