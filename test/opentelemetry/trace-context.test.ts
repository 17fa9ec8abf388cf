import { describe, expect, test } from 'vitest';
import {
  createSpanId,
  createTraceId,
  isWithinShare,
  parseTraceparent,
  toTraceparent,
} from '../../src/opentelemetry/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('the header traceparent', () => {
  test.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-fe`, false],
    [`01-${TRACE}-${SPAN}-03`, true],
    [`cc-${TRACE}-${SPAN}-01-what-comes-later`, true],
  ])('%s is read', (text, isSampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
  });

  test.each([
    undefined,
    '',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `x00-${TRACE}-${SPAN}-01`,
  ])('%s is not valid', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  test('of a span is read again', () => {
    const context = { traceId: createTraceId(), spanId: createSpanId() };
    expect(parseTraceparent(toTraceparent(context))).toEqual({ ...context, isSampled: true });
  });
});

test('ids differ', () => {
  const ids = Array.from({ length: 2_000 }, () => [createTraceId(), createSpanId()]).flat();
  expect(new Set(ids).size).toBe(4_000);
  expect(ids.filter((id) => !/^([\da-f]{32}|[\da-f]{16})$/.test(id))).toEqual([]);
});

describe('the share of traces', () => {
  test.each([0, 0.1, 0.5, 1])('%d is about as many as are within it', (share) => {
    const within = Array.from({ length: 4_000 }, () => isWithinShare({ traceId: createTraceId(), spanId: '' }, share));
    // Ten standard deviations at most.
    expect(Math.abs(within.filter(Boolean).length / 4_000 - share)).toBeLessThan(0.08);
  });

  test.each([
    // As TraceIdRatioBasedSampler of OpenTelemetry's SDK decides.
    ['00000000000000000000000000000001', 0.1, true],
    ['1999999a000000000000000000000000', 0.1, false],
    ['19999998000000000000000000000000', 0.1, true],
    ['ffffffff0000000000000000ffffffff', 0.1, true],
    ['80000000800000008000000000000000', 0.5, false],
    ['ffffffffffffffffffffffff00000000', 1, true],
  ])('%s within %d: %s', (traceId, share, expected) => {
    expect(isWithinShare({ traceId, spanId: '' }, share)).toBe(expected);
  });
});
