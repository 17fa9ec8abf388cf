import { createSpanId, createTraceId, type SpanContext } from './trace-context.ts';

/** The value of an attribute. */
export type AttributeValue = string | number | readonly string[];

/** Attributes by their names. Those that are `undefined` are left out. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** The kinds of spans, as OTLP numbers them. */
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;

/** Whether the work of a span failed, as OTLP numbers it. */
export const SPAN_STATUS = { unset: 0, error: 2 } as const;

/** A span that has ended. */
export type EndedSpan = {
  /** In hexadecimal, like all ids; `undefined` if nobody knows it yet, so that the encoder creates it. */
  readonly knownTraceId: string | undefined;
  readonly knownSpanId: string | undefined;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: (typeof SPAN_KIND)[keyof typeof SPAN_KIND];
  /** In `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** Spans of other traces that led to it. */
  readonly links: readonly SpanContext[];
  readonly status: (typeof SPAN_STATUS)[keyof typeof SPAN_STATUS];
  /** Whether its parent is a span of another process. */
  readonly hasRemoteParent: boolean;
};

/** The flags of a span in OTLP: its trace is recorded, and whether its parent is of another process. */
export function flagsOf({ hasRemoteParent }: EndedSpan): number {
  return hasRemoteParent ? 0x301 : 0x101;
}

/** Whether a value is an integer that is not negative, which OTLP has as an integer. Other numbers are doubles. */
export function isCount(value: AttributeValue): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** What all spans of a gateway have in common. */
export type SpanSource = {
  /** Attributes of the process. */
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
};

/** Encodes the body of a request with spans. */
export type SpanEncoder = {
  readonly contentType: string;
  /**
   * Adds a span.
   *
   * @param timeOrigin when `performance.now()` was 0, in milliseconds since 1970
   * @returns about how many bytes the body has
   */
  add(span: EndedSpan, timeOrigin: number): number;
  /** The body with all spans that were added since the last one. */
  take(): Uint8Array;
  /** Takes back a body that nobody reads any more. */
  reuse?(body: Uint8Array): void;
};

/** How a span starts. */
export type SpanOptions = {
  readonly name: string;
  readonly kind: EndedSpan['kind'];
  readonly parent?: SpanContext | undefined;
  readonly links?: readonly SpanContext[];
  /** In `performance.now()`; now by default. */
  readonly startedAt?: number | undefined;
};

const NOTHING: readonly never[] = Object.freeze([]);
const NO_ATTRIBUTES: Attributes = Object.freeze({});

/** A span that is recorded and sent. */
export class RecordedSpan implements EndedSpan, SpanContext {
  readonly #parent: SpanContext | undefined;
  name: string;
  readonly kind: EndedSpan['kind'];
  readonly links: readonly SpanContext[];
  readonly startedAt: number;
  status: EndedSpan['status'] = SPAN_STATUS.unset;
  endedAt = 0;
  #describe = () => NO_ATTRIBUTES;
  readonly #onEnd: (span: EndedSpan) => void;
  knownTraceId: string | undefined;
  knownSpanId: string | undefined = undefined;

  constructor(
    onEnd: (span: EndedSpan) => void,
    { name, kind, parent, links = NOTHING, startedAt = performance.now() }: SpanOptions,
  ) {
    this.#onEnd = onEnd;
    this.#parent = parent;
    this.knownTraceId = parent?.traceId;
    this.name = name;
    this.kind = kind;
    this.links = links;
    this.startedAt = startedAt;
  }

  get attributes(): Attributes {
    return this.#describe();
  }

  /** Like the other id, it is created when something else needs it, such as a child. Most spans have none. */
  get traceId(): string {
    this.knownTraceId ??= createTraceId();
    return this.knownTraceId;
  }

  get spanId(): string {
    this.knownSpanId ??= createSpanId();
    return this.knownSpanId;
  }

  get parentSpanId(): string | undefined {
    return this.#parent?.spanId;
  }

  get hasRemoteParent(): boolean {
    return this.#parent !== undefined && this.kind === SPAN_KIND.server;
  }

  fail(): void {
    this.status = SPAN_STATUS.error;
  }

  /**
   * Ends the span, so that it is sent.
   *
   * @param describe returns its attributes. It is called when the span is encoded, together with others: among the code of
   *   requests, code that runs for one request in ten takes several times as long
   * @param at when it has ended, in `performance.now()`
   */
  finish(describe: () => Attributes, at = performance.now()): void {
    this.#describe = describe;
    this.endedAt = Math.max(this.startedAt, at);
    this.#onEnd(this);
  }
}
