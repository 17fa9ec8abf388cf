import fc from 'fast-check';
import type { ResponseReader } from '../../src/upstream/response-body.ts';

/** The outcome of reading: a value or an error. */
export function outcomeOf(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof SyntaxError) return 'it is not JSON';
    return { error };
  }
}

/** Does work whose errors have no stack traces: of a hundred thousand errors, they take seconds. */
export function withoutStackTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The outcome of a response that is read in chunks of these sizes, again and again. */
export function outcomeOfChunks(text: string, sizes: readonly number[], reader: ResponseReader<unknown>): unknown {
  const bytes = Buffer.from(text);
  return outcomeOf(() => {
    for (let at = 0, n = 0; at < bytes.length; n++) {
      const size = sizes[n % sizes.length] ?? bytes.length;
      // The memory of a chunk is freed after it was read.
      const chunk = Buffer.from(bytes.subarray(at, at + size));
      reader.write(chunk);
      chunk.fill(0x20);
      at += size;
    }
    return reader.end();
  });
}

/** Sizes of chunks, small ones among them. */
export const anySizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5_000 })), {
  minLength: 1,
  maxLength: 10,
});

/** White space of each kind. */
export const anySpaces = fc.constantFrom('', ' ', '\n\t\t', '\r\n', '  ');

/** The text of the document with that white space around every token. */
export function spaceOut(text: string, spaces: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (token) => spaces + token + spaces);
}
