import { randomFillSync } from 'node:crypto';

/** What identifies a span, in hexadecimal. */
export type SpanContext = { readonly traceId: string; readonly spanId: string };

/** The trace context that a client or a node sends. */
export type RemoteContext = SpanContext & { readonly isSampled: boolean };

/** Version, trace id, span id, flags, and what a later version adds. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-((?!0{32})[\da-f]{32})-((?!0{16})[\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The flag of a trace that is recorded. */
const SAMPLED = 1;

/** Reads the header `traceparent` of W3C; `undefined` if it is not valid. */
export function parseTraceparent(text: string | undefined): RemoteContext | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** The header `traceparent` of a span that is recorded. */
export function toTraceparent({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}

/** Whether a trace is among the given share of all traces. OpenTelemetry's SDKs of JavaScript decide in the same way. */
export function isWithinShare({ traceId }: SpanContext, share: number): boolean {
  let sum = 0;
  for (let at = 0; at < traceId.length; at += 8) sum ^= Number.parseInt(traceId.slice(at, at + 8), 16);
  return share >= 1 || sum >>> 0 < Math.floor(share * 0xffff_ffff);
}

/** The length of the id of a trace. */
export const TRACE_ID_BYTES = 16;

/** The length of the id of a span. */
export const SPAN_ID_BYTES = 8;

/** Random bytes for the next ids: one call for each of them would take longer. */
const random = Buffer.alloc(4_096);
let used = random.length;

/** Creates the random id of a trace. */
export function createTraceId(): string {
  return randomHex(TRACE_ID_BYTES);
}

/** Creates the random id of a span. */
export function createSpanId(): string {
  return randomHex(SPAN_ID_BYTES);
}

/** Writes a random id, which takes less time than to create it as a text first. */
export function writeRandomId(target: Uint8Array, start: number, bytes: number): void {
  const from = takeRandom(bytes);
  for (let at = 0; at < bytes; at++) target[start + at] = random[from + at] ?? 0;
}

function randomHex(bytes: number): string {
  const from = takeRandom(bytes);
  return random.toString('hex', from, from + bytes);
}

/** @returns where the bytes begin */
function takeRandom(bytes: number): number {
  if (used + bytes > random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += bytes;
  return used - bytes;
}
