import type { BeaconHeight } from '../../../src/domain/beacon-height.ts';
import type { ExchangeState } from '../../../src/domain/exchange.ts';
import { createPoolDirectories } from '../../../src/domain/pool-directory.ts';
import { createExchangeStateReader } from '../../../src/upstream/node/exchange-state.ts';
import { createWrittenPools } from '../../../src/upstream/node/written-pools.ts';
import type { WireObject } from '../../../src/upstream/wire.ts';

/** Reads the state out of a result that was parsed as a whole: what reading it as it comes has to give too. */
export function readExchangeState(result: WireObject, beaconHeight: BeaconHeight): ExchangeState {
  const reader = createExchangeStateReader(beaconHeight, {
    directories: createPoolDirectories(),
    written: createWrittenPools(),
  });
  reader.begin();
  for (const [key, value] of Object.entries(result['PDEPoolPairs'] ?? {})) reader.add(key, value);
  return reader.end(result);
}
