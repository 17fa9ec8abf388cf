import { once } from 'node:events';
import { type Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Subscribe, Subscriber } from '../../../src/live/broadcast/broadcast.ts';
import type { EncodedUpdate } from '../../../src/server/operations/encoded-response.ts';
import { createEventStream, toEventStream } from '../../../src/server/requests/event-stream.ts';

function streamOf(updates: Subscribe<EncodedUpdate>, keepAliveMs = 60_000): Readable {
  const stream = createEventStream(updates, { keepAliveMs, internal: () => {} });
  onTestFinished(() => void stream.destroy());
  return stream;
}

const toUpdate = (n: number) =>
  ({ height: n > 1 ? n : undefined, toText: () => `{"n":${n}}` }) as unknown as EncodedUpdate;

/** A subscription whose updates the test sends. */
function createUpdates() {
  let subscriber: Subscriber<EncodedUpdate> | undefined;
  let requested = 0;
  let cancelled = 0;
  const updates: Subscribe<EncodedUpdate> = (added) => {
    subscriber = added;
    return {
      request() {
        requested += 1;
      },
      cancel() {
        cancelled += 1;
        subscriber = undefined;
      },
    };
  };
  return {
    updates,
    send: (n: number) => subscriber?.onNext(toUpdate(n)),
    fail: (error: Error) => subscriber?.onError(error),
    requested: () => requested,
    cancelled: () => cancelled,
  };
}

/** A reader that takes one chunk each time that the test calls `take`. */
function createReader(stream: Readable) {
  const taken: string[] = [];
  const writes: (() => void)[] = [];
  const reader = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, callback) {
      taken.push(String(chunk));
      writes.push(callback);
    },
  });
  stream.pipe(reader);
  return {
    taken,
    async take() {
      await nextTurn();
      writes.shift()?.();
      await nextTurn();
    },
  };
}

describe('an event stream', () => {
  test('has an event for each update, with its id if it has one', async () => {
    const { updates, send } = createUpdates();
    const { taken, take } = createReader(streamOf(updates));
    for (const n of [1, 2]) {
      await take();
      send(n);
      await nextTurn();
    }
    expect(taken.join('')).toBe(':\n\nevent: next\ndata: {"n":1}\n\nevent: next\nid: 2\ndata: {"n":2}\n\n');
  });

  test('requests an update when its reader has taken the one before, and not earlier', async () => {
    const { updates, send, requested } = createUpdates();
    const { taken, take } = createReader(streamOf(updates));
    await nextTurn();
    expect([taken, requested()]).toEqual([[':\n\n'], 0]);
    for (const n of [1, 2, 3]) {
      await take();
      expect(requested()).toBe(n);
      send(n);
      await nextTurn();
      expect([taken.length, requested()]).toEqual([n + 1, n]);
    }
  });

  test('sends comments to a reader that waits, without requesting a second update meanwhile', async () => {
    const { updates, send, requested } = createUpdates();
    const stream = streamOf(updates, 10);
    for (const _comment of [1, 2, 3, 4]) expect(String((await once(stream, 'data'))[0])).toBe(':\n\n');
    const next = once(stream, 'data');
    send(1);
    expect(String((await next)[0])).toBe('event: next\ndata: {"n":1}\n\n');
    await once(stream, 'data');
    expect(requested()).toBe(2);
  });

  test('sends no comment to a reader that has not taken what was sent', async () => {
    const stream = streamOf(createUpdates().updates, 10);
    const { taken } = createReader(stream);
    const clock = streamOf(createUpdates().updates, 10);
    for (const _comment of [1, 2, 3, 4]) await once(clock, 'data');
    expect([taken, stream.readableLength]).toEqual([[':\n\n'], 0]);
  });

  test('fails when its subscription does', async () => {
    const { updates, fail, requested } = createUpdates();
    const stream = streamOf(updates);
    const chunks: string[] = [];
    stream.on('data', (chunk) => chunks.push(String(chunk)));
    await expect.poll(requested).toBe(1);
    const failed = once(stream, 'error').catch((error) => error);
    fail(new Error('broken'));
    expect(await failed).toEqual([new Error('broken')]);
    expect(chunks).toEqual([':\n\n']);
  });

  test('of one result has one event, and is complete', () => {
    expect(toEventStream('{"n":1}')).toBe(':\n\nevent: next\ndata: {"n":1}\n\nevent: complete\ndata:\n\n');
  });
});

describe('a reader that leaves', () => {
  test('before it reads has never subscribed', () => {
    const { updates, requested, cancelled } = createUpdates();
    streamOf(updates).destroy();
    expect([requested(), cancelled()]).toEqual([0, 0]);
  });

  test('while it waits cancels its subscription once', async () => {
    const { updates, cancelled, requested, send } = createUpdates();
    const stream = streamOf(updates);
    await once(stream, 'data');
    await expect.poll(requested).toBe(1);
    stream.destroy();
    stream.destroy();
    send(1);
    await once(stream, 'close');
    expect(cancelled()).toBe(1);
  });

  test('while an event waits for it cancels its subscription once', async () => {
    const { updates, cancelled, send, requested } = createUpdates();
    const stream = streamOf(updates);
    const { take } = createReader(stream);
    await take();
    expect(requested()).toBe(1);
    send(1);
    await nextTurn();
    stream.destroy();
    await once(stream, 'close');
    expect([requested(), cancelled()]).toEqual([1, 1]);
  });
});
