import { describe, expect, test } from 'vitest';
import { type BodyOptions, readResponseBody } from '../../src/upstream/response-body.ts';

/** Reads a body that comes in these chunks, and counts those that were taken from it. */
async function read(chunks: Iterable<string>, options: Partial<BodyOptions>) {
  let taken = 0;
  async function* body() {
    for (const chunk of chunks) {
      taken += 1;
      yield Buffer.from(chunk);
    }
  }
  const outcome = await readResponseBody(body(), { write: () => {}, beginningBytes: 10, maxBytes: 100, ...options });
  return { ...outcome, taken };
}

/** Ten bytes, over and over. */
function* endless() {
  for (;;) yield 'abcdefghij';
}

const syntaxError = new SyntaxError('it is none');
const refuse = () => {
  throw syntaxError;
};

describe('a body is read', () => {
  test('completely and in order', async () => {
    const written: string[] = [];
    const write = (chunk: Buffer) => void written.push(chunk.toString());
    expect(await read([' \n', ' a', 'b', 'c'.repeat(20)], { write })).toEqual({
      bytes: 25,
      beginning: 'abcccccccc',
      failure: undefined,
      taken: 4,
    });
    expect(written).toEqual([' \n', ' a', 'b', 'c'.repeat(20)]);
  });

  test('up to the maximum', async () => {
    const outcome = await read(endless(), {});
    expect(outcome).toMatchObject({
      bytes: 110,
      taken: 11,
      failure: { name: 'TooLargeError', message: 'more than 100 bytes' },
    });
  });

  test('up to the end of its beginning if it cannot be decoded, so that the log shows what it is', async () => {
    expect(await read(['  ', '<p', '>', 'abcdefghij', 'k'], { write: refuse })).toEqual({
      bytes: 15,
      beginning: '<p>abcdefg',
      failure: syntaxError,
      taken: 4,
    });
  });

  test('up to the end of its beginning if nobody reads it', async () => {
    expect(await read(endless(), { write: undefined, beginningBytes: 15 })).toEqual({
      bytes: 20,
      beginning: 'abcdefghijabcde',
      failure: undefined,
      taken: 2,
    });
  });

  test('without passing on more after a failure', async () => {
    let written = 0;
    const write = () => {
      written += 1;
      throw syntaxError;
    };
    await read(['a', 'b', 'c'], { write });
    expect(written).toBe(1);
  });
});

describe('the memory of a chunk', () => {
  async function readOne(chunk: Buffer): Promise<void> {
    async function* body() {
      yield chunk;
    }
    await readResponseBody(body(), { write: () => {}, beginningBytes: 10, maxBytes: 100 });
  }

  test('is freed as soon as the chunk was read', async () => {
    const memory = new ArrayBuffer(50);
    await readOne(Buffer.from(memory));
    expect(memory.detached).toBe(true);
  });

  test('is not freed if others use a part of it', async () => {
    const memory = new ArrayBuffer(50);
    await readOne(Buffer.from(memory, 10));
    await readOne(Buffer.from(memory, 0, 10));
    expect(memory.detached).toBe(false);
  });
});

test('reading many chunks yields to the event loop', async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const workAWhile = () => {
    const end = performance.now() + 1;
    while (performance.now() < end);
  };
  await read(Array(40).fill(' '), { write: workAWhile });
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(10);
});
