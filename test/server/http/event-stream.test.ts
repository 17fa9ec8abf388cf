import { once } from 'node:events';
import { type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEventStream } from '../../../src/server/http/event-stream.ts';

const toEvent = (result: number) => ({ id: result > 1 ? result : undefined, data: `{"n":${result}}` });

function streamOf(results: AsyncIterable<number>, keepAliveMs = 60_000): Readable {
  const stream = createEventStream({ results, toEvent, keepAliveMs });
  onTestFinished(() => void stream.destroy());
  return stream;
}

/** Results that come when the test says so. */
function createResults() {
  const asked: PromiseWithResolvers<IteratorResult<number>>[] = [];
  let returned = 0;
  const results: AsyncIterableIterator<number> = {
    [Symbol.asyncIterator]: () => results,
    next() {
      const answer = Promise.withResolvers<IteratorResult<number>>();
      asked.push(answer);
      return answer.promise;
    },
    async return() {
      returned += 1;
      return { done: true, value: undefined };
    },
  };
  const answer = (value: number) => asked.at(-1)?.resolve({ done: false, value });
  return { results, answer, asked: () => asked.length, returned: () => returned };
}

/** A reader that takes one chunk whenever the test says so. */
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
      await immediate();
      writes.shift()?.();
      await immediate();
    },
  };
}

describe('a stream of events', () => {
  test('says each result with its id, where it has one, and that it is complete', async () => {
    const stream = streamOf(
      (async function* () {
        yield 1;
        yield 2;
      })(),
    );
    expect(await text(stream)).toBe(
      ':\n\nevent: next\ndata: {"n":1}\n\nevent: next\nid: 2\ndata: {"n":2}\n\nevent: complete\ndata:\n\n',
    );
  });

  test('asks for a result when its reader has taken the one before, and not earlier', async () => {
    const { results, answer, asked } = createResults();
    const { taken, take } = createReader(streamOf(results));
    await immediate();
    expect([taken, asked()]).toEqual([[':\n\n'], 0]);
    for (const n of [1, 2, 3]) {
      await take();
      expect(asked()).toBe(n);
      answer(n);
      await immediate();
      expect([taken.length, asked()]).toEqual([n + 1, n]);
    }
  });

  test('pings a reader that waits, without asking for a second result meanwhile', async () => {
    const { results, answer, asked } = createResults();
    const stream = streamOf(results, 10);
    for (const _ping of [1, 2, 3, 4]) expect(String((await once(stream, 'data'))[0])).toBe(':\n\n');
    answer(1);
    expect(String((await once(stream, 'data'))[0])).toBe('event: next\ndata: {"n":1}\n\n');
    expect(asked()).toBe(1);
    await once(stream, 'data');
    expect(asked()).toBe(2);
  });

  test('does not ping a reader in front of whom something waits', async () => {
    const stream = streamOf(createResults().results, 10);
    const { taken } = createReader(stream);
    const clock = streamOf(createResults().results, 10);
    for (const _ping of [1, 2, 3, 4]) await once(clock, 'data');
    expect([taken, stream.readableLength]).toEqual([[':\n\n'], 0]);
  });

  test('fails where its results do, without saying that it is complete', async () => {
    const stream = streamOf(
      // biome-ignore lint/correctness/useYield: it fails before
      (async function* () {
        throw new Error('broken');
      })(),
    );
    const chunks: string[] = [];
    stream.on('data', (chunk) => chunks.push(String(chunk)));
    expect(await once(stream, 'error').catch((error) => error)).toEqual([new Error('broken')]);
    expect(chunks).toEqual([':\n\n']);
  });
});

describe('results are returned once', () => {
  test('when a reader goes before it reads', () => {
    const { results, returned } = createResults();
    streamOf(results).destroy();
    expect(returned()).toBe(1);
  });

  test('when it goes while it waits', async () => {
    const { results, returned, asked, answer } = createResults();
    const stream = streamOf(results);
    await once(stream, 'data');
    await expect.poll(asked).toBe(1);
    stream.destroy();
    stream.destroy();
    answer(1);
    await once(stream, 'close');
    expect(returned()).toBe(1);
  });

  test('when it goes while an event waits for it', async () => {
    const { results, returned, answer, asked } = createResults();
    const stream = streamOf(results);
    const { take } = createReader(stream);
    await take();
    expect(asked()).toBe(1);
    answer(1);
    await immediate();
    stream.destroy();
    await once(stream, 'close');
    expect([asked(), returned()]).toEqual([1, 1]);
  });

  test('and not at all where they have ended by themselves', async () => {
    let returned = 0;
    const results: AsyncIterableIterator<number> = {
      [Symbol.asyncIterator]: () => results,
      next: async () => ({ done: true, value: undefined }),
      async return() {
        returned += 1;
        return { done: true, value: undefined };
      },
    };
    const stream = streamOf(results);
    await text(stream);
    await expect.poll(() => stream.closed).toBe(true);
    expect(returned).toBe(0);
  });
});
