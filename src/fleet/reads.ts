import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import type { RawOrderBook } from '../domain/order-book.ts';
import type { BlockTrades } from '../domain/trade.ts';
import type { BlockName } from '../live/chain/head-trades.ts';
import type { FinalHeight } from '../live/chain/past-states.ts';
import type { Observed, ReadOnce } from '../live/fleet-port.ts';
import { type DirectoryOf, type PackedState, packState, STATE_FORMAT, unpackState } from './packed-states.ts';
import { createReadOnce } from './read-once.ts';
import type { Redis } from './redis.ts';
import type { FleetWatcher } from './values.ts';

type ReadsOptions = {
  readonly redis: Redis;
  /** How long a read waits for another replica. */
  readonly maxWaitMs: number;
  readonly watcher: FleetWatcher;
};

/** How long a state is stored. Each replica has the states that it used last in memory, for longer. */
const STATE_TTL_MS = 2 * 60_000;

/** Creates the function that reads a final state. The fleet reads each state once. */
export function createStateReads(
  options: ReadsOptions & { readonly directoryOf: DirectoryOf },
): ReadOnce<FinalHeight, ExchangeState> {
  const readOnce = createReadOnce<ExchangeState | undefined>({
    ...options,
    kind: 'state',
    ttlMs: STATE_TTL_MS,
    pack: (state) => state && packState(state),
    unpack: (packed) => unpackState(packed as PackedState, options.directoryOf),
  });

  return async ({ chainName, height, isV1, isComplete }, read) => {
    /** What this replica has read, also a state that is not for the fleet because it lost pools. */
    let own: ExchangeState | undefined;
    const { value } = await readOnce(`${STATE_FORMAT}-${chainName}-${height}${isV1 ? '-v1' : ''}`, async () => {
      own = await read();
      return isComplete(own) ? own : undefined;
    });
    if (own !== undefined) return own;
    // Pools never vanish, so that a state with fewer is not that of this chain.
    return value !== undefined && isComplete(value) ? value : read();
  };
}

/** Creates the function that reads the trades of a block. The fleet reads each block once. */
export function createTradesReads(options: ReadsOptions): ReadOnce<BlockName, BlockTrades> {
  const readOnce = createReadOnce<BlockTrades>({ ...options, kind: 'trades', ttlMs: STATE_TTL_MS });
  return async ({ chainName, height, hash }, read) => (await readOnce(`${chainName}-${height}-${hash}`, read)).value;
}

/** A response of the market-data host; `undefined` inside for a ticker that it does not have. */
type ReadBook = { readonly book: RawOrderBook | undefined };

/**
 * Creates the function that reads an order book. While a book is fresh, the fleet reads it once. Its age is counted by the clock
 * of Redis, because the clocks of replicas may differ.
 *
 * @param options `ttlMs` is how long one snapshot is returned to all clients
 */
export function createOrderBookReads(
  options: ReadsOptions & { readonly ttlMs: number; readonly now: () => Instant },
): ReadOnce<string, Observed<RawOrderBook | undefined>> {
  const readOnce = createReadOnce<ReadBook>({ ...options, kind: 'order_book' });
  return async (tickerId, read) => {
    const { value, ageMs } = await readOnce(tickerId, async () => ({ book: (await read()).value }));
    return { value: value.book, observedAt: options.now() - Math.ceil(ageMs) };
  };
}
