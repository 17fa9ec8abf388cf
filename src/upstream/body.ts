import { setImmediate as nextTurn } from 'node:timers/promises';
import { createByteList } from './byte-list.ts';
import type { Reader } from './decode.ts';
import { Excess } from './wire.ts';

/** How a body is read. */
export type BodyOptions = {
  /** What takes it in. Where nothing does, only its beginning is read. */
  readonly write?: Reader<unknown>['write'] | undefined;
  /** How much of its beginning is told. */
  readonly beginningBytes: number;
  /** The largest that is read. */
  readonly maxBytes: number;
};

/** What was read of a body. */
export type Body = {
  /** How many bytes came. */
  readonly bytes: number;
  /** Its first characters but white space, as UTF-8: what it is where it is not what was asked for. */
  readonly beginning: string;
  /** Why it was not read to its end: what the reader has thrown, or Excess. */
  readonly failure: unknown;
};

/** For how long chunks that are there already are read one after another, before others have their turn. */
const WORK_AT_ONCE_MS = 2;

/**
 * Reads a body as it comes, without keeping it. It is left as soon as it cannot be read and its beginning is known.
 *
 * @throws what the connection fails with
 */
export async function readBody(
  body: AsyncIterable<Buffer>,
  { write, beginningBytes, maxBytes }: BodyOptions,
): Promise<Body> {
  const beginning = createBeginning(beginningBytes);
  let bytes = 0;
  let failure: unknown;
  let workedMs = 0;
  for await (const chunk of body) {
    const startedAt = performance.now();
    bytes += chunk.length;
    beginning.write(chunk);
    if (bytes > maxBytes) {
      failure ??= new Excess(`${maxBytes} bytes`);
      break;
    }
    failure ??= failureOf(write, chunk);
    if ((write === undefined || failure !== undefined) && beginning.isFull()) break;

    release(chunk);
    workedMs += performance.now() - startedAt;
    if (workedMs > WORK_AT_ONCE_MS) {
      await nextTurn();
      workedMs = 0;
    }
  }
  return { bytes, beginning: beginning.text(), failure };
}

/**
 * Gives the memory of a chunk back at once. Left to the next collection, what has come of a large answer until then would be
 * resident together: the young generation waits for some 60 MB of such memory. A part of a buffer that others share stays.
 */
function release(chunk: Buffer): void {
  if (chunk.length === chunk.buffer.byteLength) (chunk.buffer as ArrayBuffer).transfer(0);
}

function failureOf(write: BodyOptions['write'], chunk: Buffer): unknown {
  try {
    write?.(chunk);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Keeps the first bytes of a body but white space. */
function createBeginning(maxBytes: number) {
  const bytes = createByteList(maxBytes);
  return {
    isFull: () => bytes.length() === maxBytes,
    write(chunk: Buffer): void {
      const first = bytes.length() > 0 ? 0 : chunk.findIndex((byte) => !isSpace(byte));
      if (first >= 0) bytes.append(chunk, first, Math.min(chunk.length, first + maxBytes - bytes.length()));
    },
    text: () => bytes.text(),
  };
}

/** Whether a byte is white space in ASCII. */
function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
