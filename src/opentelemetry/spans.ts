import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { OperationSpan, OtlpProtocol, TraceSampler, Tracing } from '../tracing.ts';

// The only file that imports OpenTelemetry. It is loaded when traces are on.

/** Sends encoded spans, and records whether that fails. */
export type SendSpans = (body: Uint8Array, contentType: string, spans: number) => Promise<void>;

/** How spans are recorded. */
export type SpansOptions = {
  readonly version: string;
  /** Overrides the name among the attributes, if it is not empty. */
  readonly serviceName: string;
  /** Attributes of the process. */
  readonly resource: Readonly<Record<string, string>>;
  readonly protocol: OtlpProtocol;
  readonly sampler: TraceSampler;
  /** The share of traces that the samplers with `traceidratio` record. */
  readonly ratio: number;
  readonly send: SendSpans;
};

/**
 * Creates the tracing. Nothing is registered globally: each gateway of a process has its own, and another OpenTelemetry SDK in
 * the process does not see it.
 */
export function createTracing(options: SpansOptions): Tracing {
  const { version, serviceName, resource, protocol, send } = options;
  const name = serviceName || resource['service.name'] || 'pdex-gateway';
  const attributes = { 'service.version': version, ...resource, 'service.name': name };
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
    // The sampling decision is made before a span is created, so the SDK records every span that it gets.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor({ exporter: createExporter(protocol, send) })],
  });
  const tracer = provider.getTracer('pdex-gateway', version);
  const sampler = createSampler(options);
  const scopes = new AsyncLocalStorage<Scope>();

  function operationOf(span: Span): OperationSpan {
    const scope = openScope(span);
    return {
      run: (work) => scopes.run(scope, work),
      prepared: (type, name, points) =>
        void span.setAttributes({
          'graphql.operation.type': type,
          'graphql.operation.name': name,
          'pdex.cost_points': points,
        }),
      end({ from, height, codes = [] } = {}) {
        if (!scope.isOpen) return;
        scope.isOpen = false;
        span.setAttributes({ 'pdex.response_source': from, 'pdex.beacon_height': height });
        if (codes.length > 0) span.setAttributes({ 'error.type': codes[0], 'pdex.error_codes': [...codes] });
        if (codes.some(isFault)) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  return {
    startOperation(transport, requestId, traceparent) {
      if (traceparent !== undefined && sampler.mayIgnore(traceparent)) return undefined;
      const parent = parseParent(traceparent);
      if (!(parent === undefined ? sampler.startsTrace() : sampler.continues(parent))) return undefined;
      const attributes = { 'network.protocol.name': transport, 'pdex.request_id': requestId };
      const span = tracer.startSpan(NOT_PREPARED, { kind: SpanKind.SERVER, attributes }, contextOf(parent));
      const operation = operationOf(span);
      return {
        ...operation,
        prepared(type, name, points) {
          // Clients choose the names of operations, so a name is an attribute and not the name of the span.
          span.updateName(type);
          operation.prepared(type, name, points);
        },
      };
    },

    startUpdate(head) {
      const cause = parseParent(head?.traceparent);
      if (head === undefined ? !sampler.startsTrace() : cause === undefined) return undefined;
      const links = cause === undefined ? [] : [{ context: cause }];
      return operationOf(tracer.startSpan('update', { kind: SpanKind.INTERNAL, links }, ROOT_CONTEXT));
    },

    startPoll(name) {
      if (!sampler.startsTrace()) return undefined;
      const span = tracer.startSpan(`poll ${name}`, { kind: SpanKind.INTERNAL }, ROOT_CONTEXT);
      const scope = openScope(span, []);

      function end(): void {
        scope.isOpen = false;
        for (const endCall of scope.held ?? []) endCall();
        scope.held = undefined;
        span.end();
      }

      return {
        run: (work) => scopes.run(scope, work),
        published({ height, changedPools, host }) {
          span.setAttributes({ 'pdex.beacon_height': height, 'pdex.changed_pools': changedPools, 'pdex.host': host });
          end();
        },
        failed(code) {
          span.setAttribute('error.type', code);
          span.setStatus({ code: SpanStatusCode.ERROR });
          end();
        },
        discard() {
          if (!scope.isOpen) return;
          scope.isOpen = false;
          // A call that ends later is not recorded either.
          scope.held = [];
        },
      };
    },

    startCall(name, upstream, url) {
      const scope = scopes.getStore();
      if (scope === undefined || !scope.isOpen) return undefined;
      const attributes = { 'pdex.upstream': upstream, ...addressOf(url) };
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, scope.context);
      let sent = 0;
      return {
        traceparent: toTraceparent(span.spanContext()),
        sent() {
          sent += 1;
          if (sent > 1) span.setAttribute('http.request.resend_count', sent - 1);
        },
        received(status, bytes) {
          span.setAttributes({ 'http.response.status_code': status, 'http.response.body.size': bytes });
        },
        end(code) {
          if (code !== undefined) span.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR });
          const at = performance.now();
          if (scope.held === undefined) span.end(at);
          else scope.held.push(() => span.end(at));
        },
      };
    },

    current() {
      const scope = scopes.getStore();
      return scope && toTraceparent(scope.span.spanContext());
    },

    async close(timeoutMs) {
      const timeout = sleep(timeoutMs, undefined, { ref: false });
      await Promise.race([provider.shutdown().catch(() => {}), timeout]);
    },
  };
}

/** The name of an operation that could not be prepared, as in the semantic conventions for GraphQL. */
const NOT_PREPARED = 'GraphQL Operation';

/** A span on whose behalf code runs. */
type Scope = {
  readonly span: Span;
  readonly context: Context;
  /** Whether the span has not ended. Calls after its end are not traced, such as later polls of an order book for other clients. */
  isOpen: boolean;
  /** The ends of the calls of a poll, until it is known whether the poll is recorded. */
  held: (() => void)[] | undefined;
};

function openScope(span: Span, held?: Scope['held']): Scope {
  return { span, context: trace.setSpan(ROOT_CONTEXT, span), isOpen: true, held };
}

/** Whether an error is of the gateway or of an upstream, and not of the client. */
function isFault(code: string): boolean {
  return code === 'INTERNAL_SERVER_ERROR' || (code.startsWith('UPSTREAM_') && code !== 'UPSTREAM_NOT_CONFIGURED');
}

/** The host without the path, which may contain a key. */
function addressOf({ hostname, port, protocol }: URL): Attributes {
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

function contextOf(parent: SpanContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}

function parseParent(traceparent: string | undefined): SpanContext | undefined {
  return traceparent === undefined ? undefined : (parseTraceParent(traceparent) ?? undefined);
}

function toTraceparent({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}

/** Decides which spans are recorded, before anything is created for them. */
type Sampler = {
  startsTrace(): boolean;
  continues(parent: SpanContext): boolean;
  /** Whether a trace context says that it is not sampled, which costs less to find out than to parse it. */
  mayIgnore(traceparent: string): boolean;
};

/** The length of a `traceparent` of version 00, which ends with its flags. */
const TRACEPARENT_LENGTH = 55;

function createSampler({ sampler, ratio }: Pick<SpansOptions, 'sampler' | 'ratio'>): Sampler {
  const isParentBased = sampler.startsWith('parentbased_');
  const share = sampler.endsWith('traceidratio') ? ratio : Number(sampler.endsWith('always_on'));
  // All services that see a trace decide by its id in the same way.
  const byTraceId = new TraceIdRatioBasedSampler(share);

  return {
    // The id of a new trace is random, so any random number will do.
    startsTrace: () => Math.random() < share,
    mayIgnore: (text) => isParentBased && text.length === TRACEPARENT_LENGTH && text.endsWith('-00'),
    continues: (parent) =>
      isParentBased
        ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0
        : byTraceId.shouldSample(ROOT_CONTEXT, parent.traceId).decision === SamplingDecision.RECORD_AND_SAMPLED,
  };
}

/** Encodes batches of spans and sends them. A batch that cannot be sent is lost. */
function createExporter(protocol: OtlpProtocol, send: SendSpans): SpanExporter {
  const [serializer, contentType] =
    protocol === 'http/json'
      ? ([JsonTraceSerializer, 'application/json'] as const)
      : ([ProtobufTraceSerializer, 'application/x-protobuf'] as const);
  const sending = new Set<Promise<void>>();

  async function untilSent(): Promise<void> {
    await Promise.allSettled(sending);
  }

  return {
    export(spans, done) {
      const body = serializer.serializeRequest(spans) ?? new Uint8Array();
      const sent = send(body, contentType, spans.length);
      sending.add(sent);
      sent
        .finally(() => {
          sending.delete(sent);
          done({ code: ExportResultCode.SUCCESS });
        })
        .catch(() => {});
    },
    forceFlush: untilSent,
    shutdown: untilSent,
  };
}
