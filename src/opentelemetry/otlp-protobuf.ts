import { ProtobufWriter } from './protobuf-writer.ts';
import {
  type Attributes,
  type AttributeValue,
  type EndedSpan,
  flagsOf,
  isCount,
  SPAN_STATUS,
  type SpanEncoder,
  type SpanSource,
} from './span.ts';
import { SPAN_ID_WORDS, TRACE_ID_WORDS } from './trace-context.ts';

// The tags of opentelemetry-proto 1.x: the number of a field times 8, plus its wire type.
const REQUEST = { resourceSpans: 0x0a };
const RESOURCE_SPANS = { resource: 0x0a, scopeSpans: 0x12 };
const RESOURCE = { attributes: 0x0a };
const SCOPE_SPANS = { scope: 0x0a, spans: 0x12 };
const SCOPE = { name: 0x0a, version: 0x12 };
const SPAN = {
  ...{ traceId: 0x0a, spanId: 0x12, parentSpanId: 0x22, name: 0x2a, kind: 0x30, start: 0x39, end: 0x41 },
  ...{ attributes: 0x4a, links: 0x6a, status: 0x7a, flags: 0x85 },
};
const LINK = { traceId: 0x0a, spanId: 0x12 };
const STATUS = { code: 0x18 };
const KEY_VALUE = { key: 0x0a, value: 0x12 };
const ANY_VALUE = { string: 0x0a, integer: 0x18, double: 0x21, array: 0x2a };
const ARRAY_VALUE = { values: 0x0a };

/** Creates the encoder of spans as protobuf. */
export function createProtobufEncoder({ resource, scope }: SpanSource): SpanEncoder {
  const writer = new ProtobufWriter();

  function writeSpan(span: EndedSpan, timeOrigin: number): void {
    const { length } = writer;
    writer.fixed32(SPAN.flags, flagsOf(span));
    if (span.status !== SPAN_STATUS.unset) writeStatus(span.status);
    for (const { traceId, spanId } of span.links.toReversed()) {
      const { length } = writer;
      writer.hex(LINK.spanId, spanId);
      writer.hex(LINK.traceId, traceId);
      writer.endMessage(SPAN.links, length);
    }
    writeAttributes(SPAN.attributes, span.attributes);
    writer.fixed64(SPAN.end, (timeOrigin + span.endedAt) * 1e6);
    writer.fixed64(SPAN.start, (timeOrigin + span.startedAt) * 1e6);
    writer.varint(SPAN.kind, span.kind);
    writer.text(SPAN.name, span.name);
    if (span.parentSpanId !== undefined) writer.hex(SPAN.parentSpanId, span.parentSpanId);
    if (span.knownSpanId === undefined) writer.randomId(SPAN.spanId, SPAN_ID_WORDS);
    else writer.hex(SPAN.spanId, span.knownSpanId);
    if (span.knownTraceId === undefined) writer.randomId(SPAN.traceId, TRACE_ID_WORDS);
    else writer.hex(SPAN.traceId, span.knownTraceId);
    writer.endMessage(SCOPE_SPANS.spans, length);
  }

  function writeStatus(code: number): void {
    const { length } = writer;
    writer.varint(STATUS.code, code);
    writer.endMessage(SPAN.status, length);
  }

  function writeAttributes(tag: number, attributes: Attributes): void {
    for (const key in attributes) {
      const value = attributes[key];
      if (value === undefined) continue;
      const { length } = writer;
      writeValue(KEY_VALUE.value, value);
      writer.text(KEY_VALUE.key, key);
      writer.endMessage(tag, length);
    }
  }

  function writeValue(tag: number, value: AttributeValue): void {
    const { length } = writer;
    if (typeof value === 'string') writer.text(ANY_VALUE.string, value);
    else if (isCount(value)) writer.varint(ANY_VALUE.integer, value);
    else if (typeof value === 'number') writer.double(ANY_VALUE.double, value);
    else {
      for (const text of value.toReversed()) writeValue(ARRAY_VALUE.values, text);
      writer.endMessage(ANY_VALUE.array, length);
    }
    writer.endMessage(tag, length);
  }

  return {
    contentType: 'application/x-protobuf',
    add(span, timeOrigin) {
      writeSpan(span, timeOrigin);
      return writer.length;
    },
    take() {
      const end = 0;
      const scopeEnd = writer.length;
      writer.text(SCOPE.version, scope.version);
      writer.text(SCOPE.name, scope.name);
      writer.endMessage(SCOPE_SPANS.scope, scopeEnd);
      writer.endMessage(RESOURCE_SPANS.scopeSpans, end);
      const resourceEnd = writer.length;
      writeAttributes(RESOURCE.attributes, resource);
      writer.endMessage(RESOURCE_SPANS.resource, resourceEnd);
      writer.endMessage(REQUEST.resourceSpans, end);
      return writer.take();
    },
    reuse: (body) => writer.reuse(body),
  };
}
