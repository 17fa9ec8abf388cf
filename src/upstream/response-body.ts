import type { Readable, Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type ByteBuffer, createByteBuffer } from './byte-buffer.ts';
import { isSpace } from './json-parts.ts';
import { TooLargeError } from './wire.ts';

/** Takes in a response while it arrives, and returns its value at the end. It is used for one response. */
export type ResponseReader<T> = {
  /**
   * Reads a chunk, whose memory is freed afterwards.
   *
   * @throws SyntaxError, ShapeError or TooLargeError as soon as the response cannot be read; nothing more is written then
   */
  write(chunk: Buffer): void;
  /** The value of the complete response. @throws SyntaxError, ShapeError, UpstreamError */
  end(): T;
};

/** How a body is read. */
export type BodyOptions = {
  /** Receives the chunks. Without it, only the beginning is read. */
  readonly write?: ResponseReader<unknown>['write'] | undefined;
  /** How much of the beginning is returned. */
  readonly beginningBytes: number;
  /** The largest body that is read. */
  readonly maxBytes: number;
};

/** What is known of a body after it was read. */
type Body = {
  /** How many bytes arrived. */
  readonly bytes: number;
  /** Its first characters without leading white space, as UTF-8. They show what an unexpected body is. */
  readonly beginning: string;
  /** Why it was not read to its end: what `write` has thrown, TooLargeError or UnreadableEncoding. */
  readonly failure: unknown;
};

/** Time of work on chunks that have already arrived, after which the reader yields to the event loop. */
const WORK_AT_ONCE_MS = 2;

/**
 * Passes a body on while it arrives, without storing it. Once it cannot be read and its beginning is known, the rest is
 * not read.
 *
 * @throws the error of the connection
 */
export async function readResponseBody(
  body: AsyncIterable<Buffer>,
  { write, beginningBytes, maxBytes }: BodyOptions,
): Promise<Body> {
  const beginning = createByteBuffer(beginningBytes);
  let bytes = 0;
  let failure: unknown;
  let workedMs = 0;
  try {
    for await (const chunk of body) {
      const startedAt = performance.now();
      bytes += chunk.length;
      appendBeginning(beginning, chunk, beginningBytes);
      if (bytes > maxBytes) {
        failure ??= new TooLargeError(`${maxBytes} bytes`);
        break;
      }
      failure ??= failureOf(write, chunk);
      if ((write === undefined || failure !== undefined) && beginning.length() === beginningBytes) break;

      release(chunk);
      workedMs += performance.now() - startedAt;
      if (workedMs > WORK_AT_ONCE_MS) {
        await nextTurn();
        workedMs = 0;
      }
    }
  } catch (error) {
    // It does not fail yet, because a bad status is the better error.
    if (!(error instanceof UnreadableEncoding)) throw error;
    failure ??= error;
  }
  return { bytes, beginning: beginning.text(), failure };
}

/**
 * Frees the memory of a chunk at once. V8 would wait until some 60 MB of chunks have gathered. A chunk that is a part of a
 * larger buffer is not freed.
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

/** Collects the first bytes of a body without leading white space. */
function appendBeginning(beginning: ByteBuffer, chunk: Buffer, maxBytes: number): void {
  const length = beginning.length();
  const first = length > 0 ? 0 : chunk.findIndex((byte) => !isSpace(byte));
  if (first >= 0) beginning.append(chunk, first, Math.min(chunk.length, first + maxBytes - length));
}

/** The encoding that the gateway accepts. Behind nginx, an exchange state then takes a third of the bytes. */
export const ACCEPT_ENCODING = 'gzip';

/** A compressed body that is damaged or cut off, or that has an encoding which the gateway cannot read. */
export class UnreadableEncoding extends Error {
  constructor(what: string, cause?: unknown) {
    super(what, { cause });
    this.name = 'UnreadableEncoding';
  }
}

/** Large enough for a buffer of its own, so that `readResponseBody` can give its memory back. */
const DECODER_OPTIONS = { chunkSize: 64 * 1_024 };

/** Some hosts send the other encodings, although the gateway does not accept them. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(DECODER_OPTIONS),
  'x-gzip': () => createGunzip(DECODER_OPTIONS),
  deflate: () => createInflate(DECODER_OPTIONS),
  br: () => createBrotliDecompress(DECODER_OPTIONS),
};

/**
 * Decompresses a body while it arrives. This runs outside of the event loop, and only as fast as the result is read. A body that is
 * not compressed is returned as it is. Reading one that cannot be decompressed throws UnreadableEncoding.
 */
export function decompressBody(body: Readable, contentEncoding: string | string[] | undefined): AsyncIterable<Buffer> {
  const encoding = String(contentEncoding ?? '')
    .trim()
    .toLowerCase();
  if (encoding === '' || encoding === 'identity') return body;

  return decompress(body, Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined);
}

async function* decompress(body: Readable, decoder: Transform | undefined): AsyncGenerator<Buffer, void> {
  if (decoder === undefined) {
    body.on('error', () => {}).destroy();
    throw new UnreadableEncoding('its Content-Encoding is not supported');
  }
  body.on('error', (error) => decoder.destroy(error)).pipe(decoder);
  try {
    yield* decoder;
  } catch (error) {
    throw body.errored === null ? new UnreadableEncoding('it cannot be decompressed', error) : error;
  } finally {
    body.destroy();
  }
}
