import { describe, expect, test } from 'vitest';
import { UNKNOWN_HASH } from '../../../src/domain/chain.ts';
import { createBroadcast, type Subscribe } from '../../../src/live/broadcast/broadcast.ts';
import type { Head } from '../../../src/live/chain/head.ts';
import { createRecentHeads, headsAfter } from '../../../src/live/chain/recent-heads.ts';
import { toAsyncValues } from '../../support/async-values.ts';
import { headOf } from './heads.ts';

/** A chain whose heads a test makes; so many of them are kept. */
function chainForTest(kept = 5) {
  const recent = createRecentHeads(kept);
  const { current, subscribe, subscribers, publish } = createBroadcast<Head>();

  function show(height: number, hash?: string, previousHash?: string): void {
    const head = { ...headOf(height, hash), previousHash, previousHeight: current()?.beaconHeight };
    recent.add(head);
    publish(head);
  }

  function comeBackAfter(height: number) {
    const heads = toAsyncValues(headsAfter({ recent, current, subscribe }, height));
    const next = async () => {
      const { value } = await heads.next();
      return value && [value.beaconHeight, value.hash];
    };
    return { heads, next };
  }

  return { show, comeBackAfter, subscribers };
}

const block = (height: number, hash = `block ${height}`) => [height, hash];

describe('a subscriber that resumes gets', () => {
  test('each height above the one it names, in order, then each new one; none twice', async () => {
    const { show, comeBackAfter } = chainForTest();
    for (const height of [1, 2, 3, 4]) show(height);
    const { next } = comeBackAfter(2);
    expect([await next(), await next()]).toEqual([block(3), block(4)]);
    const fifth = next();
    show(5);
    expect(await fifth).toEqual(block(5));
    show(6);
    expect(await next()).toEqual(block(6));
  });

  test('also the heads that come while it catches up', async () => {
    const { show, comeBackAfter } = chainForTest();
    for (const height of [1, 2, 3]) show(height);
    const { next } = comeBackAfter(1);
    expect(await next()).toEqual(block(2));
    show(4);
    show(5);
    expect([await next(), await next(), await next()]).toEqual([block(3), block(4), block(5)]);
    const sixth = next();
    show(6);
    expect(await sixth).toEqual(block(6));
  });

  test('from the oldest remembered head if it was away for too long', async () => {
    const { show, comeBackAfter } = chainForTest(2);
    for (const height of [1, 2, 3, 4]) show(height);
    const { next } = comeBackAfter(1);
    expect([await next(), await next()]).toEqual([block(3), block(4)]);
  });

  test('only new heads if it has missed nothing', async () => {
    const { show, comeBackAfter } = chainForTest();
    show(1);
    const { next } = comeBackAfter(1);
    const second = next();
    show(2);
    expect(await second).toEqual(block(2));
  });

  test('nothing until its height is passed if it is ahead of this gateway', async () => {
    const { show, comeBackAfter } = chainForTest();
    show(1);
    const { next } = comeBackAfter(3);
    const fourth = next();
    for (const height of [2, 3, 4]) show(height);
    expect(await fourth).toEqual(block(4));
  });

  test('only the newer one of a block that was replaced', async () => {
    const { show, comeBackAfter } = chainForTest();
    show(1);
    show(2, 'replaced');
    show(2, 'newer');
    const { next } = comeBackAfter(1);
    expect(await next()).toEqual(block(2, 'newer'));
    const third = next();
    show(3);
    expect(await third).toEqual(block(3));
  });

  test('no block that a later one shows as replaced', async () => {
    const { show, comeBackAfter } = chainForTest();
    show(1);
    show(2, 'replaced');
    show(3, 'newer', 'never shown');
    const { next } = comeBackAfter(1);
    expect(await next()).toEqual(block(3, 'newer'));
    const fourth = next();
    show(4);
    expect(await fourth).toEqual(block(4));
  });

  test('a block that replaces the last one that it received', async () => {
    const { show, comeBackAfter } = chainForTest();
    show(1);
    show(2);
    const { next } = comeBackAfter(1);
    expect(await next()).toEqual(block(2));
    const newer = next();
    show(2, 'newer');
    expect(await newer).toEqual(block(2, 'newer'));
  });

  test('a block that has replaced the last one that it received before it requests the next', async () => {
    const { show, comeBackAfter } = chainForTest();
    show(1);
    show(2);
    const { next } = comeBackAfter(1);
    expect(await next()).toEqual(block(2));
    show(2, 'newer');
    expect(await next()).toEqual(block(2, 'newer'));
    const third = next();
    show(3);
    expect(await third).toEqual(block(3));
  });

  test('a head once that is remembered a moment before it is published', async () => {
    const recent = createRecentHeads(5);
    const { current, subscribe, publish } = createBroadcast<Head>();
    const [first, second, third] = [headOf(1), { ...headOf(1, 'newer'), previousHeight: 1 }, headOf(2)];
    recent.add(first);
    publish(first);
    recent.add(second);
    const heads = toAsyncValues(headsAfter({ recent, current, subscribe }, 0));
    expect((await heads.next()).value).toBe(second);
    const next = heads.next();
    publish(second);
    publish(third);
    expect((await next).value).toBe(third);
  });
});

describe('its subscription ends', () => {
  test('with an error of the source, which an object with state receives', () => {
    let fail: (error: unknown) => void = () => expect.unreachable();
    const subscribe: Subscribe<Head> = (source) => {
      fail = (error) => source.onError(error);
      return { request() {}, cancel() {} };
    };
    const resume = headsAfter({ recent: createRecentHeads(1), current: () => undefined, subscribe }, 1);
    const received: unknown[] = [];
    const subscriber = {
      received,
      onNext: () => expect.unreachable(),
      onError(error: unknown) {
        this.received.push(error);
      },
    };
    resume(subscriber).request();
    fail('the reason');
    expect(received).toEqual(['the reason']);
  });

  test('when it cancels, also while it waits', async () => {
    const { show, comeBackAfter, subscribers } = chainForTest();
    show(1);
    const { heads } = comeBackAfter(1);
    const waiting = heads.next();
    expect(subscribers()).toBe(1);
    await heads.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await heads.next()).toEqual({ done: true, value: undefined });
    expect(subscribers()).toBe(0);
  });

  test('before its turn has come: then it receives nothing', async () => {
    const recent = createRecentHeads(1);
    recent.add(headOf(1));
    const { current, subscribe, subscribers } = createBroadcast<Head>();
    const onNext = () => expect.unreachable();
    const { request, cancel } = headsAfter({ recent, current, subscribe }, 0)({ onNext, onError: onNext });
    await Promise.all([request(), cancel()]);
    expect(subscribers()).toBe(0);
  });

  test('before it has caught up', async () => {
    const { show, comeBackAfter, subscribers } = chainForTest();
    show(1);
    show(2);
    const { heads, next } = comeBackAfter(0);
    expect(await next()).toEqual(block(1));
    await heads.return?.();
    expect(await heads.next()).toEqual({ done: true, value: undefined });
    expect(subscribers()).toBe(0);
  });
});

test('heads that are filled in do not replace those that were published', () => {
  const recent = createRecentHeads(3);
  for (const height of [5, 6]) recent.add(headOf(height));
  recent.fill([3, 4, 5].map((height) => headOf(height, 'another')));
  expect(recent.all().map(({ beaconHeight, hash }) => [beaconHeight, hash])).toEqual([
    [4, 'another'],
    [5, 'block 5'],
    [6, 'block 6'],
  ]);
});

test('a head that was replaced does not show that those below it were', () => {
  const recent = createRecentHeads(3);
  recent.add({ ...headOf(5), previousHash: 'block 4' });
  recent.fill([headOf(3), { ...headOf(4, 'replaced'), previousHash: 'another' }]);
  expect(recent.all().map(({ beaconHeight }) => beaconHeight)).toEqual([3, 5]);
});

test('heads that are filled in are not remembered if one above shows that they were replaced', () => {
  const recent = createRecentHeads(3);
  recent.add({ ...headOf(6), previousHash: 'block 5' });
  recent.fill([headOf(4), headOf(5, 'replaced')]);
  expect(recent.all().map(({ beaconHeight }) => beaconHeight)).toEqual([4, 6]);
});

test('a head without a known hash is remembered below a block that names the hash', () => {
  const recent = createRecentHeads(3);
  recent.add(headOf(5, UNKNOWN_HASH));
  recent.add({ ...headOf(6), previousHash: 'block 5' });
  expect(recent.all().map(({ beaconHeight }) => beaconHeight)).toEqual([5, 6]);
});
