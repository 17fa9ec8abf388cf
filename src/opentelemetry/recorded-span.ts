import {
  type Attributes,
  type AttributeValue,
  type HrTime,
  type Link,
  type SpanContext,
  type SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import { RandomIdGenerator, type ReadableSpan } from '@opentelemetry/sdk-trace';

/** What all spans of a gateway have in common, and where a span goes when it ends. */
export type Recorder = {
  readonly resource: Resource;
  readonly scope: ReadableSpan['instrumentationScope'];
  readonly onEnd: (span: ReadableSpan) => void;
};

/** How a span starts. */
type SpanOptions = {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parent?: SpanContext | undefined;
  /** Contexts of other traces that led to it. */
  readonly links?: readonly SpanContext[];
  /** It is changed later. Attributes that are `undefined` are left out. */
  readonly attributes?: Attributes;
};

const ids = new RandomIdGenerator();
const NOTHING: readonly never[] = Object.freeze([]);
const UNSET: SpanStatus = Object.freeze({ code: SpanStatusCode.UNSET });
const ERROR: SpanStatus = Object.freeze({ code: SpanStatusCode.ERROR });

/**
 * A span that is recorded and sent. It has what the gateway's spans need of a span of OpenTelemetry's SDK, whose own takes three
 * times as long to create: it checks and copies attributes, asks a sampler and counts.
 */
export class RecordedSpan implements ReadableSpan {
  name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly attributes: Attributes;
  readonly links: Link[];
  status = UNSET;
  readonly startTime: HrTime;
  endTime: HrTime;
  duration: HrTime;
  ended = false;
  readonly events = NOTHING as unknown as ReadableSpan['events'];
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #recorder: Recorder;
  readonly #context: SpanContext;
  readonly #startedAt = performance.now();
  readonly #startedAtMs = Date.now();

  constructor(recorder: Recorder, { name, kind, parent, links = NOTHING, attributes = {} }: SpanOptions) {
    this.#recorder = recorder;
    this.#context = {
      traceId: parent?.traceId ?? ids.generateTraceId(),
      spanId: ids.generateSpanId(),
      traceFlags: TraceFlags.SAMPLED,
    };
    this.name = name;
    this.kind = kind;
    if (parent !== undefined) this.parentSpanContext = parent;
    this.links = links.map((context) => ({ context }));
    this.attributes = attributes;
    this.startTime = millisToHrTime(this.#startedAtMs);
    this.endTime = this.startTime;
    this.duration = millisToHrTime(0);
  }

  get resource(): Resource {
    return this.#recorder.resource;
  }

  get instrumentationScope(): ReadableSpan['instrumentationScope'] {
    return this.#recorder.scope;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  /** Sets an attribute, unless the value is `undefined`. */
  set(name: string, value: AttributeValue | undefined): void {
    if (value !== undefined) this.attributes[name] = value;
  }

  fail(): void {
    this.status = ERROR;
  }

  /** Ends the span, so that it is sent. @param at when it has ended, in `performance.now()` */
  end(at = performance.now()): void {
    const took = Math.max(0, at - this.#startedAt);
    this.duration = millisToHrTime(took);
    this.endTime = millisToHrTime(this.#startedAtMs + took);
    this.ended = true;
    this.#recorder.onEnd(this);
  }
}
