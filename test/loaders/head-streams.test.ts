import { expect, test } from 'vitest';
import { UpstreamTimeoutError } from '../../src/errors.ts';
import { createBroadcast } from '../../src/live/broadcast/broadcast.ts';
import type { Head } from '../../src/live/chain/head.ts';
import { createRecentHeads, headsAfter } from '../../src/live/chain/recent-heads.ts';
import { createResumableStream } from '../../src/loaders/head-streams.ts';
import type { SourceStream } from '../../src/loaders/source-stream.ts';
import type { LoaderInputs } from '../../src/loaders/sources.ts';
import { createTradeStream } from '../../src/loaders/trades.ts';
import { headOf } from '../live/chain/heads.ts';
import { toAsyncValues } from '../support/async-values.ts';

/** A follower whose heads a test publishes, and what opens streams of them. */
function startFollower() {
  const heads = createBroadcast<Head>();
  const recent = createRecentHeads(5);
  let failure: Error | undefined;
  const head = {
    ...heads,
    newest: heads.current,
    recent: recent.all,
    subscribeAfter: async (height: number) => headsAfter({ ...heads, recent }, height),
    async get() {
      if (failure !== undefined) throw failure;
    },
  };
  const inputs = { sources: { head }, options: {} } as unknown as LoaderInputs;

  /** What a subscriber gets at each request: the height and the hash of a block, or an error. */
  function read({ subscribe }: Pick<SourceStream<Head>, 'subscribe'>) {
    const values = toAsyncValues(subscribe);
    return async () => {
      const { value } = await values.next();
      return value instanceof Error ? value : value && [value.beaconHeight, value.hash];
    };
  }

  return {
    inputs,
    read,
    show(height: number, hash?: string) {
      const shown = { ...headOf(height, hash), previousHeight: heads.current()?.beaconHeight };
      recent.add(shown);
      heads.publish(shown);
    },
    fail(error: Error) {
      failure = error;
    },
  };
}

test('a subscriber to trades that is slow also gets the block that has replaced the last one that it received', async () => {
  const { inputs, read, show } = startFollower();
  show(100);
  const next = read(await createTradeStream({}, inputs));
  expect(await next()).toEqual([100, 'block 100']);
  show(100, 'newer');
  show(101);
  expect([await next(), await next()]).toEqual([
    [100, 'newer'],
    [101, 'block 101'],
  ]);
});

test('a subscription that resumes while the node is down gets all missed heights, also the newest', async () => {
  const { inputs, read, show, fail } = startFollower();
  for (const height of [97, 98, 99]) show(height);
  const failure = new UpstreamTimeoutError('NODE', 1_000, { host: 'node' });
  fail(failure);
  const next = read(await createResumableStream({ afterHeight: 97 }, inputs, (update) => update));
  expect([await next(), await next(), await next()]).toEqual([failure, [98, 'block 98'], [99, 'block 99']]);
});
