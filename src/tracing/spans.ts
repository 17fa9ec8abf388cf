import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attributes,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { OperationSpan, OtlpProtocol, TraceSampler, Tracing } from './tracing.ts';

/** Which spans are recorded, and how they are sent. */
export type ProviderOptions = {
  readonly version: string;
  /** Overrides the name among the attributes, if it is not empty. */
  readonly otelServiceName: string;
  readonly otelResourceAttributes: Readonly<Record<string, string>>;
  readonly otelTracesSampler: TraceSampler;
  /** The share of traces that the samplers with `traceidratio` record. */
  readonly otelTracesSamplerArg: number;
  readonly otelExporterOtlpProtocol: OtlpProtocol;
  /** Sends encoded spans, and logs if they are lost. It never rejects. */
  readonly send: (body: Uint8Array, spans: number) => Promise<void>;
};

/** A span on whose behalf code runs. */
type Scope = {
  readonly span: Span;
  /** Whether the span has not ended. Calls after its end are not traced, such as later polls of an order book for other clients. */
  isOpen: boolean;
  /** The ends of the calls of a poll, until it ends. Calls of a discarded poll never end, and the SDK sends only ended spans. */
  held?: (() => void)[] | undefined;
};

const propagator = new W3CTraceContextPropagator();

/**
 * Creates the tracing with an SDK of its own. Nothing is registered globally, and parents are passed explicitly: so each gateway
 * of a process is traced by itself, and another OpenTelemetry SDK in the process does not see it.
 */
export function createTracing(options: ProviderOptions): Tracing {
  const provider = createProvider(options);
  const tracer = provider.getTracer('pdex-gateway', options.version);
  const scopes = new AsyncLocalStorage<Scope>();

  function start(name: string, options: SpanOptions, parent = ROOT_CONTEXT): Span | undefined {
    const span = tracer.startSpan(name, { startTime: performance.now(), ...options }, parent);
    return span.isRecording() ? span : undefined;
  }

  function toOperation(span: Span | undefined, kind: SpanKind): OperationSpan | undefined {
    if (span === undefined) return undefined;
    const scope: Scope = { span, isOpen: true };
    return {
      run: (work) => scopes.run(scope, work),
      prepared(type, name, points) {
        if (!scope.isOpen) return;
        // Clients choose the names of operations, so a name is an attribute and not the name of the span.
        if (kind === SpanKind.SERVER) span.updateName(type);
        const named = { 'graphql.operation.type': type, 'graphql.operation.name': name };
        span.setAttributes({ ...named, 'pdex.cost_points': points });
      },
      end({ from, height, codes } = {}) {
        if (!scope.isOpen) return;
        scope.isOpen = false;
        span.setAttributes({ 'pdex.response_source': from, 'pdex.beacon_height': height, 'error.type': codes?.[0] });
        end(span, { 'pdex.error_codes': codes?.length ? codes : undefined }, codes?.some(isFault));
      },
    };
  }

  return {
    startOperation(transport, requestId, headers, startTime = performance.now()) {
      const kind = SpanKind.SERVER;
      const attributes = { 'network.protocol.name': transport, 'pdex.request_id': requestId };
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      return toOperation(start(NOT_PREPARED, { kind, attributes, startTime }, parent), kind);
    },

    startUpdate(head) {
      const cause = trace.getSpanContext(propagator.extract(ROOT_CONTEXT, head, defaultTextMapGetter));
      if (head !== undefined && cause === undefined) return undefined;
      const links = cause === undefined ? [] : [{ context: cause }];
      return toOperation(start('update', { links }), SpanKind.INTERNAL);
    },

    startPoll(name) {
      const span = start(`poll ${name}`, {});
      if (span === undefined) return undefined;
      const scope: Scope = { span, isOpen: true, held: [] };

      function endPoll(attributes: Attributes, isError?: boolean): void {
        scope.isOpen = false;
        for (const endCall of scope.held ?? []) endCall();
        scope.held = undefined;
        end(scope.span, attributes, isError);
      }

      return {
        run: (work) => scopes.run(scope, work),
        published({ height, changedPools, host }) {
          endPoll({ 'pdex.beacon_height': height, 'pdex.changed_pools': changedPools, 'pdex.host': host });
        },
        failed: (code) => endPoll({ 'error.type': code }, true),
        discard() {
          scope.isOpen = false;
        },
      };
    },

    startCall(name, upstream, url) {
      const scope = scopes.getStore();
      if (scope === undefined || !scope.isOpen) return undefined;
      const attributes = { 'pdex.upstream': upstream, ...addressOf(url) };
      const span = start(name, { kind: SpanKind.CLIENT, attributes }, trace.setSpan(ROOT_CONTEXT, scope.span));
      if (span === undefined) return undefined;
      let sent = 0;
      return {
        headers: headersOf(span),
        sent() {
          sent += 1;
        },
        received(status, bytes) {
          span.setAttributes({ 'http.response.status_code': status, 'http.response.body.size': bytes });
        },
        end(code) {
          const at = performance.now();
          const attributes = { 'http.request.resend_count': sent > 1 ? sent - 1 : undefined, 'error.type': code };
          const endCall = () => end(span, attributes, code !== undefined, at);
          if (scope.held === undefined) endCall();
          else scope.held.push(endCall);
        },
      };
    },

    current() {
      const scope = scopes.getStore();
      return scope && headersOf(scope.span)['traceparent'];
    },

    async close(timeoutMs) {
      await Promise.race([provider.shutdown(), sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}

/** The name of an operation that could not be prepared, as in the semantic conventions for GraphQL. */
const NOT_PREPARED = 'GraphQL Operation';

function end(span: Span, attributes: Attributes, isError = false, at = performance.now()): void {
  span.setAttributes(attributes);
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(at);
}

/** Whether an error is of the gateway or of an upstream, and not of the client. */
function isFault(code: string): boolean {
  return code === 'INTERNAL_SERVER_ERROR' || (code.startsWith('UPSTREAM_') && code !== 'UPSTREAM_NOT_CONFIGURED');
}

/** The host without the path, which may contain a key. */
function addressOf({ hostname, port, protocol }: URL): Attributes {
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

function headersOf(span: Span): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
  return headers;
}

/** Creates a provider of OpenTelemetry's SDK. It is not registered, and reads no variables of the environment. */
function createProvider(options: ProviderOptions): TracerProvider {
  const { version, otelServiceName, otelResourceAttributes } = options;
  const name = otelServiceName || otelResourceAttributes['service.name'] || 'pdex-gateway';
  const attributes = { 'service.version': version, ...otelResourceAttributes, 'service.name': name };
  return new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
    sampler: createSampler(options),
    spanProcessors: [new BatchSpanProcessor({ exporter: createExporter(options) })],
  });
}

/** Children of a recorded span are recorded, and so are updates that are linked to a recorded head. */
function createSampler({ otelTracesSampler: name, otelTracesSamplerArg }: ProviderOptions): Sampler {
  const always = new AlwaysOnSampler();
  let root: Sampler = new TraceIdRatioBasedSampler(otelTracesSamplerArg);
  if (name.endsWith('always_on')) root = always;
  if (name.endsWith('always_off')) root = new AlwaysOffSampler();
  const ofClients = name.startsWith('parentbased_') ? {} : { remoteParentSampled: root, remoteParentNotSampled: root };
  const parentBased = new ParentBasedSampler({ root, ...ofClients });
  return {
    shouldSample: (...span) => (span[5].length > 0 ? always.shouldSample() : parentBased.shouldSample(...span)),
    toString: () => name,
  };
}

/** Takes each batch at once: none waits in the SDK for a slow receiver, and the SDK reports no errors to the process. */
function createExporter({ otelExporterOtlpProtocol, send }: ProviderOptions): SpanExporter {
  const serializer = otelExporterOtlpProtocol === 'http/json' ? JsonTraceSerializer : ProtobufTraceSerializer;
  const sending = new Set<Promise<void>>();
  return {
    export(spans, done) {
      const body = serializer.serializeRequest(spans) ?? new Uint8Array();
      const sent = send(body, spans.length).finally(() => sending.delete(sent));
      sending.add(sent);
      done({ code: ExportResultCode.SUCCESS });
    },
    async shutdown() {
      await Promise.all(sending);
    },
  };
}
