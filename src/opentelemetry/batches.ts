import type { EndedSpan, SpanEncoder } from './span.ts';

/** Sends encoded spans, and notes whether that fails. It never rejects. */
export type SendSpans = (body: Uint8Array, contentType: string, spans: number) => Promise<void>;

/** Sends spans together. */
type Batches = {
  add(span: EndedSpan): void;
  /** Sends what is waiting, and resolves when all batches have been sent or are lost. */
  close(): Promise<void>;
};

/** A batch is sent when it has so many bytes: a request costs as much as the encoding of some hundred spans. */
const BATCH_BYTES = 512 * 1_024;

/** The longest time that a span waits, as in OpenTelemetry's SDKs. */
const MAX_WAIT_MS = 5_000;

/**
 * Creates the batches. A batch that cannot be sent is lost.
 *
 * Spans are encoded when they end: as objects that live for seconds they would cost the garbage collector more.
 */
export function createBatches(encoder: SpanEncoder, send: SendSpans): Batches {
  const sending = new Set<Promise<void>>();
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === 0) return;
    const spans = waiting;
    waiting = 0;
    const sent: Promise<void> = send(encoder.take(), encoder.contentType, spans).finally(() => sending.delete(sent));
    sending.add(sent);
  }

  return {
    add(span) {
      waiting += 1;
      if (encoder.add(span) >= BATCH_BYTES) flush();
      else timer ??= setTimeout(flush, MAX_WAIT_MS).unref();
    },
    async close() {
      flush();
      await Promise.all(sending);
    },
  };
}
