import fc from 'fast-check';
import type { ResponseReader } from '../../src/upstream/body.ts';

/** What comes of reading: a value, or the error that says why there is none. */
export function outcomeOf(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof SyntaxError) return 'it is not JSON';
    return { error };
  }
}

/** What comes of an answer that is read as it comes, in chunks of these sizes over and over. */
export function outcomeOfChunks(text: string, sizes: readonly number[], reader: ResponseReader<unknown>): unknown {
  const bytes = Buffer.from(text);
  return outcomeOf(() => {
    for (let at = 0, n = 0; at < bytes.length; n++) {
      const size = sizes[n % sizes.length] ?? bytes.length;
      // A chunk may be overwritten when it was taken in.
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

/** The document's text with that white space around what stands outside of texts. */
export function spaceOut(text: string, spaces: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (token) => spaces + token + spaces);
}
