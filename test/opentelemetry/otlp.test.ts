import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createJsonEncoder } from '../../src/opentelemetry/otlp-json.ts';
import { createProtobufEncoder } from '../../src/opentelemetry/otlp-protobuf.ts';
import { type EndedSpan, SPAN_KIND, SPAN_STATUS, type SpanSource } from '../../src/opentelemetry/span.ts';
import { decodeSpans } from '../support/otlp-receiver.ts';

const SOURCE: SpanSource = {
  resource: { 'service.name': 'gâteway', 'service.version': undefined },
  scope: { name: 'pdex-gateway', version: '1.2.3' },
};

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((id) => Buffer.from(id).toString('hex'));
const context = fc.record({ traceId: hex(16), spanId: hex(8) });
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 60, maxLength: 70, unit: 'grapheme' }));
const number = fc.oneof(fc.maxSafeNat(), fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }));
const value = fc.oneof(
  text,
  number.map((some) => some || 0),
  fc.array(text),
  fc.constant(undefined),
);
/** When `performance.now()` was 0. */
const TIME_ORIGIN = 1.7e12;

const span: fc.Arbitrary<EndedSpan> = fc
  .record({
    context,
    parentSpanId: fc.option(hex(8), { nil: undefined }),
    hasRemoteParent: fc.boolean(),
    name: text,
    kind: fc.constantFrom(...Object.values(SPAN_KIND)),
    // Whole milliseconds, so that both encodings round the nanoseconds in the same way.
    startedAt: fc.integer({ min: 0, max: 3.2e10 }),
    tookMs: fc.nat(),
    attributes: fc.dictionary(text, value, { noNullPrototype: true }),
    links: fc.array(context, { maxLength: 3 }),
    status: fc.constantFrom(...Object.values(SPAN_STATUS)),
  })
  .map(({ context: { traceId, spanId }, tookMs, ...rest }) => {
    return { knownTraceId: traceId, knownSpanId: spanId, ...rest, endedAt: rest.startedAt + tookMs };
  });

function encoded(spans: readonly EndedSpan[], create: typeof createJsonEncoder) {
  const encoder = create(SOURCE);
  for (const each of spans) encoder.add(each, TIME_ORIGIN);
  return { headers: { 'content-type': encoder.contentType }, body: Buffer.from(encoder.take()) };
}

function expected(each: EndedSpan) {
  const { knownTraceId, knownSpanId, startedAt, endedAt, hasRemoteParent, parentSpanId, ...others } = each;
  const { status, attributes, ...rest } = others;
  return {
    traceId: knownTraceId,
    spanId: String(knownSpanId),
    ...rest,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    startTimeUnixNano: (TIME_ORIGIN + startedAt) * 1e6,
    endTimeUnixNano: (TIME_ORIGIN + endedAt) * 1e6,
    attributes: Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)),
    flags: hasRemoteParent ? 0x301 : 0x101,
    status: { code: status },
    resource: { 'service.name': 'gâteway' },
  };
}

describe.each([
  ['protobuf', createProtobufEncoder],
  ['JSON', createJsonEncoder],
] as const)('spans as %s', (_, create) => {
  test('are what a decoder of OTLP reads, whatever they hold', () => {
    fc.assert(
      fc.property(fc.array(span, { maxLength: 4 }), (spans) => {
        const received = decodeSpans(encoded(spans, create));
        const byId = (a: { spanId: string }, b: { spanId: string }) => a.spanId.localeCompare(b.spanId);
        expect(received.toSorted(byId)).toEqual(spans.map(expected).toSorted(byId));
      }),
    );
  });

  test('are the same in memory of an earlier batch that was sent', () => {
    const encoder = create(SOURCE);
    fc.assert(
      fc.property(fc.array(span, { maxLength: 4 }), (spans) => {
        for (const each of spans) encoder.add(each, TIME_ORIGIN);
        const body = encoder.take();
        const fresh = encoded(spans, create);
        expect(Buffer.from(body)).toEqual(fresh.body);
        encoder.reuse?.(body);
      }),
    );
  });

  test('have random ids if nobody knows them before', () => {
    const [sample] = fc.sample(span, 1) as [EndedSpan];
    const unknown = { ...sample, knownTraceId: undefined, knownSpanId: undefined };
    const received = decodeSpans(encoded(Array<EndedSpan>(400).fill(unknown), create));
    expect(new Set(received.map(({ traceId }) => traceId)).size).toBe(400);
    expect(new Set(received.map(({ spanId }) => spanId)).size).toBe(400);
    for (const { traceId, spanId } of received)
      expect([traceId, spanId]).toEqual([
        expect.stringMatching(/^[\da-f]{32}$/),
        expect.stringMatching(/^[\da-f]{16}$/),
      ]);
  });

  test('have times to the microsecond', () => {
    const [sample] = fc.sample(span, 1) as [EndedSpan];
    const at = 63_900_000_123.456;
    const [received] = decodeSpans(encoded([{ ...sample, startedAt: at, endedAt: at + 0.5 }], create));
    expect(Math.abs((received?.startTimeUnixNano ?? 0) / 1e3 - (TIME_ORIGIN + at) * 1e3)).toBeLessThan(1);
    expect(Math.abs((received?.endTimeUnixNano ?? 0) / 1e3 - (TIME_ORIGIN + at) * 1e3 - 500)).toBeLessThan(1);
  });

  test('that are longer than the space for a batch are whole, and the next batch has none of them', () => {
    const [sample] = fc.sample(span, 1) as [EndedSpan];
    const encoder = create(SOURCE);
    const name = 'ä'.repeat(400_000);
    encoder.add({ ...sample, name }, TIME_ORIGIN);
    expect(encoder.add({ ...sample, name: 'short' }, TIME_ORIGIN)).toBeGreaterThan(400_000);
    const headers = { 'content-type': encoder.contentType };
    const names = () => decodeSpans({ headers, body: Buffer.from(encoder.take()) }).map((each) => each.name);
    expect(names().toSorted()).toEqual(['short', name]);
    encoder.add({ ...sample, name: 'next' }, TIME_ORIGIN);
    expect(names()).toEqual(['next']);
  });
});
