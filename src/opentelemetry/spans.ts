import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attributes, ROOT_CONTEXT, type SpanContext, SpanKind, TraceFlags } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { OperationOutcome, OperationSpan, OtlpProtocol, TraceSampler, Tracing } from '../tracing.ts';
import { RecordedSpan, type Recorder } from './recorded-span.ts';

// Only this file and the one of spans import OpenTelemetry. They are loaded when traces are on.

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
  const processor = new BatchSpanProcessor({ exporter: createExporter(protocol, send) });
  const recorder: Recorder = {
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
    scope: { name: 'pdex-gateway', version },
    onEnd: (span) => processor.onEnd(span),
  };
  const sampler = createSampler(options);
  const scopes = new AsyncLocalStorage<Scope>();

  /** The span of an operation or of an update, in which calls are recorded. */
  class Operation implements OperationSpan, Scope {
    readonly span: RecordedSpan;
    isOpen = true;
    readonly held = undefined;

    constructor(span: RecordedSpan) {
      this.span = span;
    }

    run<T>(work: () => T): T {
      return scopes.run(this, work);
    }

    prepared(type: string, name: string | undefined, points?: number): void {
      const { span } = this;
      // Clients choose the names of operations, so a name is an attribute and not the name of the span.
      if (span.kind === SpanKind.SERVER) span.name = type;
      span.set('graphql.operation.type', type);
      span.set('graphql.operation.name', name);
      span.set('pdex.cost_points', points);
    }

    end({ from, height, codes = [] }: OperationOutcome = {}): void {
      if (!this.isOpen) return;
      this.isOpen = false;
      const { span } = this;
      span.set('pdex.response_source', from);
      span.set('pdex.beacon_height', height);
      if (codes.length > 0) {
        span.set('error.type', codes[0]);
        span.set('pdex.error_codes', [...codes]);
        if (codes.some(isFault)) span.fail();
      }
      span.end();
    }
  }

  return {
    startOperation(transport, requestId, traceparent) {
      let parent: SpanContext | undefined;
      if (traceparent !== undefined) {
        if (sampler.mayIgnore(traceparent)) return undefined;
        parent = parseParent(traceparent);
      }
      if (!(parent === undefined ? sampler.startsTrace() : sampler.continues(parent))) return undefined;
      const attributes: Attributes = { 'network.protocol.name': transport };
      if (requestId !== undefined) attributes['pdex.request_id'] = requestId;
      const kind = SpanKind.SERVER;
      const remote = parent && { ...parent, isRemote: true };
      return new Operation(new RecordedSpan(recorder, { name: NOT_PREPARED, kind, parent: remote, attributes }));
    },

    startUpdate(head) {
      const cause = parseParent(head?.traceparent);
      if (head === undefined ? !sampler.startsTrace() : cause === undefined) return undefined;
      const links = cause === undefined ? [] : [cause];
      return new Operation(new RecordedSpan(recorder, { name: 'update', kind: SpanKind.INTERNAL, links }));
    },

    startPoll(name) {
      if (!sampler.startsTrace()) return undefined;
      const span = new RecordedSpan(recorder, { name: `poll ${name}`, kind: SpanKind.INTERNAL });
      const scope: Scope = { span, isOpen: true, held: [] };

      function end(): void {
        scope.isOpen = false;
        for (const endCall of scope.held ?? []) endCall();
        scope.held = undefined;
        span.end();
      }

      return {
        run: (work) => scopes.run(scope, work),
        published({ height, changedPools, host }) {
          span.set('pdex.beacon_height', height);
          span.set('pdex.changed_pools', changedPools);
          span.set('pdex.host', host);
          end();
        },
        failed(code) {
          span.set('error.type', code);
          span.fail();
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
      const parent = scope.span.spanContext();
      const span = new RecordedSpan(recorder, { name, kind: SpanKind.CLIENT, parent, attributes });
      let sent = 0;
      return {
        traceparent: toTraceparent(span.spanContext()),
        sent() {
          sent += 1;
          if (sent > 1) span.set('http.request.resend_count', sent - 1);
        },
        received(status, bytes) {
          span.set('http.response.status_code', status);
          span.set('http.response.body.size', bytes);
        },
        end(code) {
          if (code !== undefined) {
            span.set('error.type', code);
            span.fail();
          }
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
      await Promise.race([processor.shutdown().catch(() => {}), timeout]);
    },
  };
}

/** The name of an operation that could not be prepared, as in the semantic conventions for GraphQL. */
const NOT_PREPARED = 'GraphQL Operation';

/** A span on whose behalf code runs. */
type Scope = {
  readonly span: RecordedSpan;
  /** Whether the span has not ended. Calls after its end are not traced, such as later polls of an order book for other clients. */
  isOpen: boolean;
  /** The ends of the calls of a poll, until it is known whether the poll is recorded. */
  held: (() => void)[] | undefined;
};

/** Whether an error is of the gateway or of an upstream, and not of the client. */
function isFault(code: string): boolean {
  return code === 'INTERNAL_SERVER_ERROR' || (code.startsWith('UPSTREAM_') && code !== 'UPSTREAM_NOT_CONFIGURED');
}

/** The host without the path, which may contain a key. */
function addressOf({ hostname, port, protocol }: URL): Attributes {
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
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
