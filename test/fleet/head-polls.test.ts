import { expect, test } from 'vitest';
import type { ExchangeState } from '../../src/domain/exchange.ts';
import { createHeadPolls } from '../../src/fleet/head-polls.ts';
import { createRedisClock, type PollContext } from '../../src/fleet/poll-options.ts';
import { exchangeStateOf } from '../domain/pools.ts';
import { headOf } from '../live/chain/heads.ts';
import { keptOutcomes } from './connected.ts';

/** Polls of a replica that is alone and stores four heads. */
function headPolls(readState: (height: number) => Promise<ExchangeState>) {
  const redis = { onMessage() {}, fleetKey: (name: string) => name, ready: async () => false };
  const members = { takesPart: () => false, count: () => 1, joinChain: async () => {} };
  return createHeadPolls({
    context: { redis, clock: createRedisClock(), members, watcher: keptOutcomes() } as unknown as PollContext,
    directoryOf: () => exchangeStateOf(1, []).directory,
    nodes: { all: [], poll: async () => [] },
    pastStates: { read: readState },
    headsKept: 4,
    now: () => 0,
    onLag() {},
  });
}

test('skipped heights are filled in: the newest ones, in order, and without those that take too long', async () => {
  const requested: number[] = [];
  const polls = headPolls(async (height) => {
    requested.push(height);
    // The state of 18 comes before that of 17, and that of 19 never.
    if (height === 17) await Promise.resolve();
    if (height === 19) await new Promise(() => {});
    return exchangeStateOf(height, [], height);
  });
  const [previous, head] = [headOf(10), headOf(20)];
  const polled = await polls.poll({ previous, remembered: [previous], idleMs: 1, read: async () => head });
  expect(requested).toEqual([17, 18, 19]);
  expect(polled?.filledIn?.map(({ beaconHeight }) => beaconHeight)).toEqual([17, 18]);
});
