import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** The encoding that the gateway accepts. Behind nginx, an exchange state then takes a third of the bytes. */
export const ACCEPT_ENCODING = 'gzip';

/** A compressed body that is damaged or cut off, or that has an encoding which the gateway cannot read. */
export class UnreadableEncoding extends Error {
  constructor(what: string, cause?: unknown) {
    super(what, { cause });
    this.name = 'UnreadableEncoding';
  }
}

/** Large enough for a buffer of its own, so that `readBody` can give its memory back. */
const options = { chunkSize: 64 * 1_024 };

/** Also what some hosts send although the gateway does not accept it. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(options),
  'x-gzip': () => createGunzip(options),
  deflate: () => createInflate(options),
  br: () => createBrotliDecompress(options),
};

/**
 * Decompresses a body while it arrives. This runs outside of the event loop, and only as fast as the result is read. A body
 * that is not compressed is returned as it is.
 *
 * @throws UnreadableEncoding, also while it is read
 */
export function decodeBody(body: Readable, contentEncoding: string | string[] | undefined): AsyncIterable<Buffer> {
  const encoding = String(contentEncoding ?? '')
    .trim()
    .toLowerCase();
  if (encoding === '' || encoding === 'identity') return body;

  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (decoder === undefined) {
    body.on('error', () => {}).destroy();
    throw new UnreadableEncoding('its Content-Encoding is not supported');
  }
  return decompress(body, decoder());
}

async function* decompress(body: Readable, decoder: Transform): AsyncGenerator<Buffer, void> {
  let isDamaged = false;
  // This listener comes before those of the pipeline, which would end the body with the same error.
  decoder.once('error', () => {
    isDamaged = body.errored === null;
  });
  pipeline(body, decoder, () => {});
  try {
    yield* decoder;
  } catch (error) {
    throw isDamaged ? new UnreadableEncoding('it cannot be decompressed', error) : error;
  }
}
