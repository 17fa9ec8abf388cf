import { describe, expect, test } from 'vitest';
import { createTracing } from '../../src/tracing/spans.ts';
import type { TraceSampler } from '../../src/tracing/tracing.ts';
import { NOT_SAMPLED, SAMPLED } from '../support/traced-gateway.ts';

const traced = (otelTracesSampler: TraceSampler, otelTracesSamplerArg = 1) =>
  createTracing({
    ...{ version: '0.0.0', otelServiceName: '', otelResourceAttributes: {}, otelExporterOtlpProtocol: 'http/protobuf' },
    ...{ otelTracesSampler, otelTracesSamplerArg, send: async () => {} },
  });

/** Whether an operation with that trace context is recorded. */
function isRecorded(tracing: ReturnType<typeof traced>, traceparent?: string): boolean {
  return tracing.startOperation('http', undefined, { traceparent }) !== undefined;
}

describe('an operation without a trace context, of a sampled trace, and of one that is not sampled', () => {
  test.each<[TraceSampler, number, readonly boolean[]]>([
    ['always_on', 0, [true, true, true]],
    ['always_off', 1, [false, false, false]],
    ['traceidratio', 1, [true, true, true]],
    ['traceidratio', 0, [false, false, false]],
    ['parentbased_always_on', 0, [true, true, false]],
    ['parentbased_always_off', 1, [false, true, false]],
    ['parentbased_traceidratio', 1, [true, true, false]],
    ['parentbased_traceidratio', 0, [false, true, false]],
  ])('with %s and a share of %d: %j are recorded', (sampler, share, expected) => {
    const tracing = traced(sampler, share);
    expect([undefined, SAMPLED, NOT_SAMPLED].map((context) => isRecorded(tracing, context))).toEqual(expected);
  });
});

test.each([
  ['00000000000000000000000000000001', 0.1, true],
  ['1999999a000000000000000000000000', 0.1, false],
  ['ffffffff0000000000000000ffffffff', 0.1, true],
  ['80000000800000008000000000000000', 0.5, false],
  ['ffffffffffffffffffffffff00000000', 1, true],
])('all services that see the trace %s decide equally whether it is within a share of %d', (id, share, expected) => {
  expect(isRecorded(traced('traceidratio', share), `00-${id}-b7ad6b7169203331-00`)).toBe(expected);
});

test('a share of new traces is recorded', () => {
  const tracing = traced('parentbased_traceidratio', 0.1);
  const recorded = Array.from({ length: 4_000 }, () => isRecorded(tracing)).filter(Boolean).length;
  // Ten standard deviations at most.
  expect(Math.abs(recorded / 4_000 - 0.1)).toBeLessThan(0.05);
});

test.each<TraceSampler>(['always_off', 'traceidratio', 'parentbased_traceidratio'])(
  'with %s, an update and its calls are recorded if its head was',
  (sampler) => {
    const tracing = traced(sampler, 0);
    const url = new URL('http://node/');
    const update = tracing.startUpdate({ traceparent: SAMPLED });
    expect(update?.run(() => tracing.startCall('getpdestate', 'NODE', url)?.headers)).toEqual({
      // A trace of its own.
      traceparent: expect.not.stringContaining(SAMPLED.slice(3, 35)),
    });
    expect([tracing.startUpdate({}), tracing.startUpdate(undefined)]).toEqual([undefined, undefined]);
    expect(traced('always_on').startUpdate(undefined)).toBeDefined();
    update?.end();
    expect(update?.run(() => tracing.startCall('getpdestate', 'NODE', url))).toBeUndefined();
  },
);
