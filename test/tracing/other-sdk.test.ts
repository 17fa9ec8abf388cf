import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, context, type DiagLogger, diag, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, onTestFinished, test } from 'vitest';
import { createGateway } from '../../src/index.ts';
import { fixedSandbox } from '../sandbox/support.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { post, SAMPLED, serveTraced, spansAfterClose } from '../support/traced-gateway.ts';

const SERVER = 2;

/** Where OpenTelemetry keeps what is registered in the process. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');
const registered = () => ({ ...(globalThis as Record<symbol, object>)[REGISTERED] });

/** Registers an SDK for the process, as an app does. @returns its tracer, its spans, and the problems that it was told */
function registerSdk() {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const active = new AsyncLocalStorage<Context>();
  const problems: string[] = [];
  const note = (message: string) => void problems.push(message);
  const ignore = () => {};
  const logger: DiagLogger = { error: note, warn: note, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger);
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  context.setGlobalContextManager({
    active: () => active.getStore() ?? ROOT_CONTEXT,
    with: (some, work, self, ...args) => active.run(some, () => work.apply(self, args)),
    bind: (_, target) => target,
    enable: () => context as never,
    disable: () => context as never,
  });
  onTestFinished(() => {
    for (const api of [trace, propagation, context, diag]) api.disable();
  });
  return { tracer: trace.getTracer('app'), exporter, problems };
}

test.each<[string, () => Promise<OtlpReceiver>]>([
  ['works', startOtlpReceiver],
  ['refuses', () => startOtlpReceiver((response) => response.writeHead(400).end('no'))],
])(
  'a gateway whose receiver %s has traces of its own in a program that has registered an SDK, which does not notice it',
  async (_, start) => {
    const receiver = await start();
    const { tracer, exporter, problems } = registerSdk();
    const before = registered();
    const sandbox = await fixedSandbox({ history: 5 });
    onTestFinished(sandbox.close);
    const gateway = await createGateway({
      otelExporterOtlpEndpoint: receiver.url.href,
      fullnodeUrl: sandbox.nodeUrl,
      historyDatabase: 'off',
      stopWindowMs: 0,
    });
    const span = tracer.startSpan('of the app');
    const inside = await context.with(trace.setSpan(context.active(), span), async () => {
      const response = await gateway.fetch(new Request('http://any/graphql?query={beaconHeight}'));
      expect(await response.json()).toEqual({ data: { beaconHeight: expect.any(Number) } });
      return trace.getActiveSpan();
    });
    span.end();
    await gateway.close();

    expect(inside).toBe(span);
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['of the app']);
    expect(problems).toEqual([]);
    expect(registered()).toEqual(before);
    const operations = receiver.spans().filter(({ kind }) => kind === SERVER);
    expect(operations.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([['query', undefined]]);
    expect(operations[0]?.traceId).not.toBe(span.spanContext().traceId);
  },
);

test('two gateways in one process register nothing, and do not disturb each other', async () => {
  const before = registered();
  const [one, other] = [await startOtlpReceiver(), await startOtlpReceiver()];
  const gateways = [
    await serveTraced({}, one),
    await serveTraced(
      { otelServiceName: 'other', otelExporterOtlpProtocol: 'http/json', otelTracesSampler: 'always_off' },
      other,
    ),
  ] as const;
  const third = await startOtlpReceiver();
  const sampling = await serveTraced({ otelServiceName: 'third' }, third);
  for (const gateway of [...gateways, sampling])
    await post(gateway, { query: '{ beaconHeight }' }, { traceparent: SAMPLED });
  // The first one is closed while the others work.
  const spans = [await spansAfterClose(gateways[0], one)];
  await post(sampling, { query: '{ beaconHeight }' }, { traceparent: SAMPLED });
  spans.push(await spansAfterClose(gateways[1], other), await spansAfterClose(sampling, third));
  const services = spans.map((some) => new Set(some.map(({ resource }) => resource['service.name'])));
  expect(services).toEqual([new Set(['pdex-gateway']), new Set(), new Set(['third'])]);
  expect(spans.map((some) => some.filter(({ kind }) => kind === SERVER).length)).toEqual([1, 0, 2]);
  expect(registered()).toEqual(before);
});
