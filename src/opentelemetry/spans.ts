import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationOutcome, OperationSpan, OtlpProtocol, TraceSampler, Tracing } from '../tracing.ts';
import { createBatches, type SendSpans } from './batches.ts';
import { createJsonEncoder } from './otlp-json.ts';
import { createProtobufEncoder } from './otlp-protobuf.ts';
import { type Attributes, RecordedSpan, SPAN_KIND, type SpanOptions, type SpanSource } from './span.ts';
import { isWithinShare, parseTraceparent, type RemoteContext, toTraceparent } from './trace-context.ts';

/** How spans are recorded. */
type SpansOptions = {
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
  class Operation extends RecordedSpan implements OperationSpan, Scope {
    readonly span = this;
    isOpen = true;
    readonly held = undefined;
    readonly #transport: string | undefined;
    readonly #requestId: string | undefined;
    #type: string | undefined;
    #operationName: string | undefined;
    #points: number | undefined;

    constructor(options: SpanOptions, transport?: string, requestId?: string) {
      super(batches.add, options);
      this.#transport = transport;
      this.#requestId = requestId;
    }

    run<T>(work: () => T): T {
      return scopes.run(this, work);
    }

    prepared(type: string, name: string | undefined, points?: number): void {
      // Clients choose the names of operations, so a name is an attribute and not the name of the span.
      if (this.kind === SPAN_KIND.server) this.name = type;
      this.#type = type;
      this.#operationName = name;
      this.#points = points;
    }

    end(outcome: OperationOutcome = {}): void {
      if (!this.isOpen) return;
      this.isOpen = false;
      if (outcome.codes?.some(isFault)) this.fail();
      this.finish(() => this.#describe(outcome));
    }

    #describe({ from, height, codes }: OperationOutcome): Attributes {
      return {
        'network.protocol.name': this.#transport,
        'pdex.request_id': this.#requestId,
        'graphql.operation.type': this.#type,
        'graphql.operation.name': this.#operationName,
        'pdex.cost_points': this.#points,
        'pdex.response_source': from,
        'pdex.beacon_height': height,
        'error.type': codes?.[0],
        'pdex.error_codes': codes?.length ? codes : undefined,
      };
    }
  }

  return {
    startOperation(transport, requestId, traceparent, startedAt) {
      let parent: RemoteContext | undefined;
      if (traceparent !== undefined) {
        if (sampler.mayIgnore(traceparent)) return undefined;
        parent = parseTraceparent(traceparent);
      }
      if (!(parent === undefined ? sampler.startsTrace() : sampler.continues(parent))) return undefined;
      return new Operation({ name: NOT_PREPARED, kind: SPAN_KIND.server, parent, startedAt }, transport, requestId);
    },

    startUpdate(head) {
      const cause = parseTraceparent(head?.traceparent);
      if (head === undefined ? !sampler.startsTrace() : cause === undefined) return undefined;
      const links = cause === undefined ? [] : [cause];
      return new Operation({ name: 'update', kind: SPAN_KIND.internal, links });
    },

    startPoll(name) {
      if (!sampler.startsTrace()) return undefined;
      const span = new RecordedSpan(batches.add, { name: `poll ${name}`, kind: SPAN_KIND.internal });
      const scope: Scope = { span, isOpen: true, held: [] };

      function end(attributes: Attributes): void {
        scope.isOpen = false;
        for (const endCall of scope.held ?? []) endCall();
        scope.held = undefined;
        span.finish(() => attributes);
      }

      return {
        run: (work) => scopes.run(scope, work),
        published({ height, changedPools, host }) {
          end({ 'pdex.beacon_height': height, 'pdex.changed_pools': changedPools, 'pdex.host': host });
        },
        failed(code) {
          span.fail();
          end({ 'error.type': code });
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
      const span = new RecordedSpan(batches.add, { name, kind: SPAN_KIND.client, parent: scope.span });
      let sent = 0;
      let response: Attributes = {};
      return {
        traceparent: toTraceparent(span),
        sent() {
          sent += 1;
        },
        received(status, bytes) {
          response = { 'http.response.status_code': status, 'http.response.body.size': bytes };
        },
        end(code) {
          if (code !== undefined) span.fail();
          const attributes = {
            'pdex.upstream': upstream,
            ...addressOf(url),
            'http.request.resend_count': sent > 1 ? sent - 1 : undefined,
            ...response,
            'error.type': code,
          };
          const at = performance.now();
          if (scope.held === undefined) span.finish(() => attributes, at);
          else scope.held.push(() => span.finish(() => attributes, at));
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
