import {
  type Attributes,
  type AttributeValue,
  type EndedSpan,
  flagsOf,
  isCount,
  type SpanEncoder,
  type SpanSource,
} from './span.ts';
import { createSpanId, createTraceId } from './trace-context.ts';

/** Creates the encoder of spans as JSON. */
export function createJsonEncoder({ resource, scope }: SpanSource): SpanEncoder {
  const attributes = JSON.stringify(toPairs(resource));
  const start = `{"resourceSpans":[{"resource":{"attributes":${attributes}},"scopeSpans":[{"scope":${JSON.stringify(scope)},"spans":[`;
  let spans: string[] = [];
  let length = 0;

  return {
    contentType: 'application/json',
    add(span, timeOrigin) {
      const text = JSON.stringify(toJson(span, timeOrigin));
      spans.push(text);
      length += text.length;
      return length;
    },
    take() {
      const body = Buffer.from(`${start}${spans.join()}]}]}]}`);
      spans = [];
      length = 0;
      return body;
    },
  };
}

/** A span as the JSON mapping of protobuf has it: 64-bit integers are texts. */
function toJson(span: EndedSpan, timeOrigin: number) {
  return {
    traceId: span.knownTraceId ?? createTraceId(),
    spanId: span.knownSpanId ?? createSpanId(),
    parentSpanId: span.parentSpanId,
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: toNanoseconds(timeOrigin + span.startedAt),
    endTimeUnixNano: toNanoseconds(timeOrigin + span.endedAt),
    attributes: toPairs(span.attributes),
    links: span.links.map(({ traceId, spanId }) => ({ traceId, spanId })),
    status: { code: span.status },
    flags: flagsOf(span),
  };
}

function toNanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

function toPairs(attributes: Attributes) {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: toValue(value ?? '') }));
}

function toValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (isCount(value)) return { intValue: String(value) };
  if (typeof value === 'number') return { doubleValue: value };
  return { arrayValue: { values: value.map(toValue) } };
}
