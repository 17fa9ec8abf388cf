import { expect, onTestFinished, test, vi } from 'vitest';
import type { Service } from '../../../src/graphql/context.ts';
import { createBroadcast, type Subscriber, type Subscription } from '../../../src/live/broadcast/broadcast.ts';
import type { Head } from '../../../src/live/chain/head.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { createMinimumHeights, type HeightClient } from '../../../src/server/operations/minimum-heights.ts';
import { headOf } from '../../live/chain/heads.ts';
import { NEVER_MS } from '../../support/gateway.ts';
import { mostInOneTurn } from '../../support/turns.ts';

/** Minimum heights of a gateway at height 5, and operations of one client. */
function startAtFive() {
  const heads = createBroadcast<Head>();
  heads.publish(headOf(5));
  let following = 0;
  const head = {
    ...heads,
    subscribe(subscriber: Subscriber<Head>): Subscription {
      const subscription = heads.subscribe(subscriber);
      following += 1;
      const cancel = () => {
        following -= 1;
        subscription.cancel();
      };
      return { request: () => subscription.request(), cancel };
    },
  };
  const service = { sources: { head }, configured: { NODE: true } } as unknown as Service;
  const heights = createMinimumHeights(service, NEVER_MS, createMetrics('test'));
  const reach = (height: number, client: HeightClient, sent?: object) => heights.reach(height, 'minimum', client, sent);
  const reachMany = (count: number, height: number) =>
    Promise.all(Array.from({ length: count }, () => reach(height, { address: '192.0.2.1' })));
  return { publish: (height: number) => head.publish(headOf(height)), reach, reachMany, following: () => following };
}

const reached = (count: number) => Array.from({ length: count }, () => undefined);

test('a client can wait with as many operations as have left, and with no more', async () => {
  const { publish, reachMany } = startAtFive();
  const [first, rest] = [reachMany(400, 6), reachMany(600, 7)];
  publish(6);
  expect(await first).toEqual(reached(400));
  const more = reachMany(400, 7);
  expect(await reachMany(1, 7)).toMatchObject([{ message: expect.stringContaining('Too many operations') }]);
  publish(7);
  expect(await rest).toEqual(reached(600));
  expect(await more).toEqual(reached(400));
});

test('without an address, each operation counts as a client by itself', async () => {
  const { publish, reach } = startAtFive();
  const waiting = Array.from({ length: 1_001 }, () => reach(6, { address: undefined }));
  publish(6);
  expect(await Promise.all(waiting)).toEqual(reached(1_001));
});

test('an operation with many values counts as several', async () => {
  const { publish, reach, reachMany } = startAtFive();
  const address = '192.0.2.1';
  const variables = { large: 'x'.repeat(5_000_000) };
  const [large, other] = [reach(6, { address }, { variables }), reach(6, { address }, { variables })];
  const message = expect.stringContaining('Too many operations');
  expect(await reach(6, { address })).toMatchObject({ message });
  publish(6);
  expect([await large, await other]).toEqual(reached(2));
  const all = reachMany(1_000, 7);
  publish(7);
  expect(await all).toEqual(reached(1_000));
});

test('ten thousand operations of all clients can wait, and few of them go on in one turn of the event loop', async () => {
  const { publish, reach } = startAtFive();
  const waiting = Array.from({ length: 10_000 }, (_, n) => reach(6, { address: `192.0.2.${n % 10}` }));
  const refused = reach(6, { address: '192.0.2.10' });
  const most = mostInOneTurn(waiting);
  publish(6);
  expect(await refused).toMatchObject({ message: expect.stringContaining('Too many operations') });
  expect(await most).toBeLessThanOrEqual(32);
  expect(await Promise.all(waiting)).toEqual(reached(10_000));
});

test('an operation can wait after all that waited before have ended, and nothing is left of those', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { publish, reachMany, following } = startAtFive();
  for (const height of [6, 7]) {
    const waiting = reachMany(1, height);
    expect([following(), vi.getTimerCount()]).toEqual([1, 1]);
    publish(height);
    expect(await waiting).toEqual(reached(1));
    expect([following(), vi.getTimerCount()]).toEqual([0, 0]);
  }
});

test('an operation waits from the time on at which it was received', async () => {
  const { reach } = startAtFive();
  const receivedAt = performance.now() - NEVER_MS;
  const refused = await reach(6, { address: undefined, receivedAt });
  expect(refused?.message).toContain('did not reach the minimum height 6');
});
