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

/** The length of the id of a trace, in words of 32 bits. */
export const TRACE_ID_WORDS = 4;

/** The length of the id of a span, in words of 32 bits. */
export const SPAN_ID_WORDS = 2;

/** Creates a part of a random id. Ids are no secrets, so `Math.random` is enough, as in OpenTelemetry's own SDK. */
export function randomWord(): number {
  return Math.floor(Math.random() * 2 ** 32);
}

/** Creates the random id of a trace. */
export function createTraceId(): string {
  return randomHex(TRACE_ID_WORDS);
}

/** Creates the random id of a span. */
export function createSpanId(): string {
  return randomHex(SPAN_ID_WORDS);
}

function randomHex(words: number): string {
  return Array.from({ length: words }, () => randomWord().toString(16).padStart(8, '0')).join('');
}
