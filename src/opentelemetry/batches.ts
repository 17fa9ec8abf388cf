import type { EndedSpan, SpanEncoder } from './span.ts';

/** Sends encoded spans, and notes whether that fails. It never rejects. @returns whether the receiver has them */
export type SendSpans = (body: Uint8Array, contentType: string, spans: number) => Promise<boolean>;

/** Sends spans together. */
type Batches = {
  add(span: EndedSpan): void;
  /** Sends what is waiting, and resolves when all batches have been sent or are lost. */
  close(): Promise<void>;
};

/** A batch is sent when it has this number of bytes: a request costs as much as the encoding of some hundred spans. */
const BATCH_BYTES = 512 * 1_024;

/** The number of spans that are encoded together: one after the other, each takes a part of the time that it takes alone. */
const GROUP = 32;

/** The longest time that a span waits, as in OpenTelemetry's SDKs. */
const MAX_WAIT_MS = 5_000;

/**
 * Creates the batches. A batch that cannot be sent is lost.
 *
 * Spans are encoded in small groups soon after they end: as objects that live for seconds they would cost the garbage
 * collector more.
 */
export function createBatches(encoder: SpanEncoder, send: SendSpans): Batches {
  const sending = new Set<Promise<void>>();
  const ended: EndedSpan[] = [];
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Encodes the spans of the group. @returns how many bytes the batch has */
  function encode(): number {
    let bytes = 0;
    // Again for each group, because the clock of the machine can be corrected.
    const timeOrigin = Date.now() - performance.now();
    for (const span of ended) bytes = encoder.add(span, timeOrigin);
    waiting += ended.length;
    ended.length = 0;
    return bytes;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    encode();
    if (waiting === 0) return;
    const spans = waiting;
    waiting = 0;
    const sent = sendBatch(encoder.take(), spans).finally(() => sending.delete(sent));
    sending.add(sent);
  }

  async function sendBatch(body: Uint8Array, spans: number): Promise<void> {
    const isReceived = await send(body, encoder.contentType, spans);
    // A request that failed may still be on its way to the operating system.
    if (isReceived) encoder.reuse?.(body);
  }

  return {
    add(span) {
      ended.push(span);
      if (ended.length === GROUP && encode() >= BATCH_BYTES) flush();
      else timer ??= setTimeout(flush, MAX_WAIT_MS).unref();
    },
    async close() {
      flush();
      await Promise.all(sending);
    },
  };
}
