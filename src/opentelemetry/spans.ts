import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationOutcome, OperationSpan, OtlpProtocol, TraceSampler, Tracing } from '../tracing.ts';
import { createBatches, type SendSpans } from './batches.ts';
import { createJsonEncoder } from './otlp-json.ts';
import { createProtobufEncoder } from './otlp-protobuf.ts';
import { type Attributes, RecordedSpan, SPAN_KIND, type SpanSource } from './span.ts';
import { isWithinShare, parseTraceparent, type RemoteContext, toTraceparent } from './trace-context.ts';

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
  const source: SpanSource = {
    resource: {
      ...SDK,
      'telemetry.sdk.version': version,
      'service.version': version,
      ...resource,
      'service.name': name,
    },
    scope: { name: 'pdex-gateway', version },
  };
  const encoder = protocol === 'http/json' ? createJsonEncoder(source) : createProtobufEncoder(source);
  const batches = createBatches(encoder, send);
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
      if (span.kind === SPAN_KIND.server) span.name = type;
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
      let parent: RemoteContext | undefined;
      if (traceparent !== undefined) {
        if (sampler.mayIgnore(traceparent)) return undefined;
        parent = parseTraceparent(traceparent);
      }
      if (!(parent === undefined ? sampler.startsTrace() : sampler.continues(parent))) return undefined;
      const attributes = { 'network.protocol.name': transport, 'pdex.request_id': requestId };
      const kind = SPAN_KIND.server;
      return new Operation(new RecordedSpan(batches.add, { name: NOT_PREPARED, kind, parent, attributes }));
    },

    startUpdate(head) {
      const cause = parseTraceparent(head?.traceparent);
      if (head === undefined ? !sampler.startsTrace() : cause === undefined) return undefined;
      const links = cause === undefined ? [] : [cause];
      return new Operation(new RecordedSpan(batches.add, { name: 'update', kind: SPAN_KIND.internal, links }));
    },

    startPoll(name) {
      if (!sampler.startsTrace()) return undefined;
      const span = new RecordedSpan(batches.add, { name: `poll ${name}`, kind: SPAN_KIND.internal });
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
      const parent = scope.span;
      const span = new RecordedSpan(batches.add, { name, kind: SPAN_KIND.client, parent, attributes });
      let sent = 0;
      return {
        traceparent: toTraceparent(span),
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
      return scope && toTraceparent(scope.span);
    },

    async close(timeoutMs) {
      const timeout = sleep(timeoutMs, undefined, { ref: false });
      await Promise.race([batches.close(), timeout]);
    },
  };
}

/** What says which program has recorded the spans. */
const SDK = { 'telemetry.sdk.name': 'pdex-gateway', 'telemetry.sdk.language': 'nodejs' };

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

/** Decides which spans are recorded, before anything is created for them. */
type Sampler = {
  startsTrace(): boolean;
  continues(parent: RemoteContext): boolean;
  /** Whether a trace context says that it is not sampled, which costs less to find out than to parse it. */
  mayIgnore(traceparent: string): boolean;
};

/** The length of a `traceparent` of version 00, which ends with its flags. */
const TRACEPARENT_LENGTH = 55;

function createSampler({ sampler, ratio }: Pick<SpansOptions, 'sampler' | 'ratio'>): Sampler {
  const isParentBased = sampler.startsWith('parentbased_');
  const share = sampler.endsWith('traceidratio') ? ratio : Number(sampler.endsWith('always_on'));

  return {
    // The id of a new trace is random, so any random number will do.
    startsTrace: () => Math.random() < share,
    mayIgnore: (text) => isParentBased && text.length === TRACEPARENT_LENGTH && text.endsWith('-00'),
    // All services that see a trace decide by its id in the same way.
    continues: (parent) => (isParentBased ? parent.isSampled : isWithinShare(parent, share)),
  };
}
