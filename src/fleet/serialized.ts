import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';

const DIGEST_BYTES = 32;

/** Writes a value for Redis: the SHA-256 of what follows, and the value in the structured clone format of V8. */
export function toBytes(value: unknown): Buffer {
  const body = serialize(value);
  return Buffer.concat([digestOf(body), body]);
}

/** Reads what {@link toBytes} wrote; `undefined` for anything else, and for a value of a V8 that is too new. */
export function fromBytes(bytes: Buffer): unknown {
  const body = bytes.subarray(DIGEST_BYTES);
  if (!digestOf(body).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
  try {
    return deserialize(body);
  } catch {
    return undefined;
  }
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
