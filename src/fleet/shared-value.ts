import { createHash } from 'node:crypto';

/** The version of what is stored. Replicas of another version read it as damaged, and write their own. */
const FORMAT = 1;

/** What a value in Redis says of itself. */
type ValueHeader = {
  readonly kind: string;
  /** What it is the value of, with the chain where it belongs to one. */
  readonly id: string;
  /** When its upstream sent it, by the clock of Redis. */
  readonly observedAt: number;
};

const DIGEST_BYTES = 32;
const LENGTH_BYTES = 4;

/** Writes a value with its header: the SHA-256 of the rest, the length of the header, the header in JSON, and the value. */
export function toEnvelope(header: ValueHeader, body: Uint8Array): Buffer {
  const text = Buffer.from(JSON.stringify({ format: FORMAT, ...header }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  return Buffer.concat([digestOf([length, text, body]), length, text, body]);
}

/** Reads what {@link toEnvelope} wrote; `undefined` for anything else, and for a value of something else. */
export function fromEnvelope(
  bytes: Buffer,
  kind: string,
  id: string,
): { readonly observedAt: number; readonly body: Buffer } | undefined {
  const start = DIGEST_BYTES + LENGTH_BYTES;
  if (bytes.length < start) return undefined;
  if (!digestOf([bytes.subarray(DIGEST_BYTES)]).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
  const end = start + bytes.readUInt32LE(DIGEST_BYTES);
  const header = parseJson(bytes.subarray(start, end).toString());
  if (header?.['format'] !== FORMAT || header['kind'] !== kind || header['id'] !== id) return undefined;
  const observedAt = header['observedAt'];
  return Number.isSafeInteger(observedAt) ? { observedAt: observedAt as number, body: bytes.subarray(end) } : undefined;
}

/** Parses an object of JSON; `undefined` for anything else. */
export function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
