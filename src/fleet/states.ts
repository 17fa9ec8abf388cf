import type { ExchangeState } from '../domain/exchange.ts';
import type { FinalHeight } from '../live/chain/past-states.ts';
import type { ReadOnce } from '../live/fleet-port.ts';
import type { PackedState, PackedStates } from './packed-states.ts';
import { createReadOnce } from './read-once.ts';
import type { Redis } from './redis.ts';
import type { FleetWatcher } from './watcher.ts';

type StatesOptions = {
  readonly redis: Redis;
  readonly packedStates: PackedStates;
  readonly maxWaitMs: number;
  readonly watcher: FleetWatcher;
};

/** Each replica has the states that it used last in memory, for longer. */
const TTL_MS = 2 * 60_000;

/** Creates the function that reads a final state. The fleet reads each state once. */
export function createStateReads({
  redis,
  packedStates,
  maxWaitMs,
  watcher,
}: StatesOptions): ReadOnce<FinalHeight, ExchangeState> {
  const readOnce = createReadOnce<ExchangeState | undefined>({
    redis,
    kind: 'state',
    ttlMs: TTL_MS,
    maxWaitMs,
    pack: async (state) => state && packedStates.pack(state),
    unpack: (packed) => packedStates.unpack(packed as PackedState),
    watcher,
  });

  return async ({ chainName, height, isComplete }, read) => {
    /** What was read last, also a state that is not for the fleet because it lost pools. */
    let own: ExchangeState | undefined;
    const { value } = await readOnce(`${chainName}-${height}`, async () => {
      own = await read();
      return isComplete(own) ? own : undefined;
    });
    if (own !== undefined) return own;
    // Pools never vanish, so that a state with fewer is not that of this chain.
    return value !== undefined && isComplete(value) ? value : read();
  };
}
