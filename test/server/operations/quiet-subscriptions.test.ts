import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FieldNode } from 'graphql';
import { afterEach, expect, test, vi } from 'vitest';
import { UpstreamTimeoutError } from '../../../src/errors.ts';
import type { Service } from '../../../src/graphql/context.ts';
import { parseDocument } from '../../../src/graphql/document-source.ts';
import { createErrorMask } from '../../../src/graphql/errors.ts';
import { createPlanner, createValidDocument } from '../../../src/graphql/execution/planner.ts';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { schema } from '../../../src/graphql/schema.ts';
import { createBroadcast, type Subscribe } from '../../../src/live/broadcast/broadcast.ts';
import type { Head } from '../../../src/live/chain/head.ts';
import { createRecentHeads, headsAfter } from '../../../src/live/chain/recent-heads.ts';
import { createHeadStream } from '../../../src/loaders/head-streams.ts';
import { createPoolCache } from '../../../src/loaders/pool-cache.ts';
import { createPriceCrossingStream } from '../../../src/loaders/price-streams.ts';
import { type SourceStream, startWith } from '../../../src/loaders/source-stream.ts';
import type { LoaderInputs } from '../../../src/loaders/sources.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { encodeUpdate } from '../../../src/server/operations/encoded-response.ts';
import { createSubscriptionGroup } from '../../../src/server/operations/subscription-group.ts';
import { createSubscriptionGroups } from '../../../src/server/operations/subscription-groups.ts';
import { exchangeStateOf, poolOf, tokenId } from '../../domain/pools.ts';
import { headOf } from '../../live/chain/heads.ts';
import { untilCollected } from '../../support/garbage.ts';
import { startGatewayForTest } from '../../support/gateway.ts';

const [a, b] = [tokenId('a'), tokenId('b')];

/** Heads with one pool, whose price a test chooses. */
function chainForTest() {
  const heads = createBroadcast<Head>();
  let height = 0;
  /** @returns a reference that is empty when nothing else references the head */
  function publish(price: bigint): WeakRef<Head> {
    height += 1;
    const exchange = exchangeStateOf(height, [poolOf(price * 1_000_000n, 1_000_000n)]);
    const head = { ...headOf(height), exchange };
    heads.publish(head);
    return new WeakRef(head);
  }
  return { heads, publish };
}

/** Joins a group whose updates are empty and, like those with an age, depend on their value. @returns the number of updates */
function joinGroup<V, U>(stream: SourceStream<V, U>) {
  const { subscribe } = stream as unknown as SourceStream;
  const group = createSubscriptionGroup({
    stream: stream as unknown as SourceStream,
    execute: async (value) => {
      const update = encodeUpdate(new WrittenResult('{}'), undefined);
      return { update, areCurrent: () => value === undefined };
    },
    turn: () => Promise.resolve(),
    onSent() {},
    onEmpty() {},
    now: () => 0,
  });
  return receiveFrom((subscriber) => group.join(subscriber, subscribe));
}

/** Receives each value of a source. */
function receiveFrom<T>(subscribe: Subscribe<T>) {
  let received = 0;
  const subscription = subscribe({
    onNext() {
      received += 1;
      subscription.request();
    },
    onError(reason) {
      throw reason;
    },
  });
  subscription.request();
  return { received: () => received, cancel: () => subscription.cancel() };
}

afterEach(() => {
  vi.useRealTimers();
});

test('a price that crossed a bound leaves no head in memory while the subscription waits for the next one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { heads, publish } = chainForTest();
  publish(1_000n);
  const tokens = { current: () => new Map([a, b].map((each) => [each, { tokenId: each, symbol: 'T', decimals: 0 }])) };
  const head = { ...heads, get: async () => heads.current(), newest: heads.current };
  const sources = { head, tokens, pools: createPoolCache() };
  const inputs = { sources, options: {} } as unknown as LoaderInputs;
  const stream = await createPriceCrossingStream({ token1Id: b, token2Id: a, above: 2_000 }, inputs);
  const { received, cancel } = joinGroup(stream);
  const crossed = publish(3_000n);
  await expect.poll(received).toBe(1);

  publish(3_000n);
  await vi.advanceTimersByTimeAsync(10_000);
  await untilCollected([crossed]);
  publish(1_000n);
  publish(3_000n);
  await expect.poll(received).toBe(2);
  cancel();
});

test('a subscription that resumed does not keep the head at which it did', async () => {
  const { heads, publish } = chainForTest();
  const recent = createRecentHeads(1);
  const resumedAt = publish(1n);
  const { received, cancel } = receiveFrom(headsAfter({ recent, ...heads }, 1));
  await nextTurn();
  publish(1n);
  await expect.poll(received).toBe(1);
  await untilCollected([resumedAt]);
  cancel();
});

test('a subscription that started in an outage does not keep the head before it', async () => {
  const { heads, publish } = chainForTest();
  const expired = publish(1n);
  const outage = Promise.reject(new UpstreamTimeoutError('NODE', 1, {}));
  const { received, cancel } = receiveFrom(await startWith(outage, heads.subscribe, heads.current));
  publish(1n);
  // The error, and the head after the outage.
  await expect.poll(received).toBe(2);
  await untilCollected([expired]);
  cancel();
});

/** Joins the group of a subscription whose document nothing else references. @returns references to its selections */
async function joinByDocument(service: Service) {
  const document = parseDocument('subscription { head { ...F } } fragment F on Head { beaconHeight }');
  const operation = createValidDocument(document).operation(null);
  if (operation === undefined) throw new Error('It has no operation.');
  const planned = createPlanner({ schema, limits: service.limits }).plan(operation, {});
  if (planned.plan === undefined) throw new Error('It has no plan.');
  const stream = (await createHeadStream({ sources: service.sources })) as unknown as SourceStream;
  const [takeTurn, metrics, maskError] = [() => nextTurn(), createMetrics('test'), createErrorMask(() => {})];
  const subscribeToGroup = createSubscriptionGroups({ service, takeTurn, metrics, maskError });
  const subscription = receiveFrom(subscribeToGroup({ address: undefined, operation, planned, stream }));
  const { selectionSet } = operation.definition.selectionSet.selections[0] as FieldNode;
  return {
    ...subscription,
    selections: [new WeakRef(document.definitions[1] as object), new WeakRef(selectionSet as object)],
  };
}

test('a subscription does not keep the fragments and selections of its document', async () => {
  const { app, advance, untilReady } = await startGatewayForTest();
  await untilReady();
  const { received, cancel, selections } = await joinByDocument(app.service);
  await expect.poll(received).toBe(1);
  await untilCollected(selections);
  await advance();
  await expect.poll(received).toBe(2);
  cancel();
});
