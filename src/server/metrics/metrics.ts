import type { GraphQLError } from 'graphql';
import { CloseCode } from 'graphql-ws';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ERROR_CODES } from '../../domain/error-codes.ts';
import type { FleetWatcher } from '../../fleet/values.ts';
import type { Service } from '../../graphql/context.ts';
import type { UpstreamCall } from '../../upstream/health.ts';
import { createMetricFactory, type MetricFactory } from './metric-factory.ts';
import { registerSourceMetrics } from './source-metrics.ts';

/** The metrics that Prometheus reads. Every label has a limited set of values. */
export type Metrics = ReturnType<typeof createMetrics>;

type OperationType = 'query' | 'subscribe' | 'update';

/** The transport of an operation. */
export type OperationTransport = 'http' | 'websocket';

/**
 * What becomes of an operation that names a minimum height: it continues at once (reached) or when the height is published
 * (waited), or it is refused because the height did not come in time (late), is too far ahead (ahead), too many wait (full), the
 * client disconnects (left), or the gateway stops (stopping).
 */
export type MinimumHeightOutcome = 'reached' | 'waited' | 'late' | 'ahead' | 'full' | 'left' | 'stopping';

/** The origin of a response to a query: the response cache, the execution of another request, or its own execution. */
export type ResponseSource = 'cached' | 'coalesced' | 'executed';

/** The outcome of an operation: data without errors, data with errors, or no data. */
export type OperationOutcome = 'whole' | 'partial' | 'failed';

const RESPONSE_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const WAIT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const UPSTREAM_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Gauges of prom-client that are named like counters, which `promtool check metrics` rejects. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

let processMetrics: Registry | undefined;

/**
 * The metrics of the process, which all its gateways share. prom-client never stops observing the event loop and the garbage
 * collection: with metrics of its own, a closed gateway would stay in memory.
 */
function sharedProcessMetrics(): Registry {
  if (processMetrics === undefined) {
    processMetrics = new Registry();
    collectDefaultMetrics({ register: processMetrics });
    for (const name of MISNAMED) processMetrics.removeSingleMetric(name);
  }
  return processMetrics;
}

/** Creates the metrics of one gateway, including those of the process. */
export function createMetrics(version: string, isSandbox = false) {
  const registry = Registry.merge([sharedProcessMetrics()]);
  const factory = createMetricFactory(registry);
  const { counter, gauge, histogram } = factory;

  gauge(
    'pdex_build_info{version,node,sandbox}',
    'Always 1. The labels are the versions of the gateway and of Node.js, and whether the sandbox is on.',
  ).set({ version, node: process.version, sandbox: String(isSandbox) }, 1);
  const requests = counter(
    'pdex_http_requests_total{endpoint,status}',
    'HTTP requests with a response, by endpoint and status.',
  );
  const requestSeconds = histogram(
    'pdex_http_request_duration_seconds{endpoint}',
    'Time from the request headers to the end of the response, in seconds, by endpoint. Event streams are not included.',
    RESPONSE_SECONDS,
  );
  const responses = counter(
    'pdex_query_responses_total{from}',
    'Responses to plain queries over HTTP and to queries over websockets, by origin: cached (from the response cache), coalesced (one execution for several concurrent requests) or executed.',
  );
  const operations = counter(
    'pdex_operations_total{type,outcome}',
    'Operations, by type and outcome. The type is query, subscribe (the start of a subscription) or update (each update of one). The outcome is whole (no errors), partial (data and errors) or failed (no data). An operation that is invalid or exceeds a limit is not executed: its type is any, and its outcome refused.',
  );
  const operationSeconds = histogram(
    'pdex_operation_duration_seconds{type}',
    'Time to execute a query or to start a subscription, in seconds, by type.',
    RESPONSE_SECONDS,
  );
  // The names come from the manifest, so that their number is limited.
  const persisted = counter(
    'pdex_persisted_operations_total{operation}',
    'Queries of persisted documents with a response, and subscriptions of them that were started, by operation name, or by the id of a document whose operation has no name.',
  );
  const errorsSent = counter(
    'pdex_errors_total{code}',
    'Errors in responses to clients on all transports, by code. A response with several errors counts each, and an update of a subscription counts once for each subscriber.',
  );
  // A counter that appears with its first error hides that error from rate().
  for (const code of [...Object.keys(ERROR_CODES), OTHER]) errorsSent.inc({ code }, 0);
  const rateLimited = counter(
    'pdex_rate_limited_total{transport}',
    'Requests and operations refused because the client address exceeded the rate limit, by transport.',
  );
  const connectionsRefused = counter(
    'pdex_connections_refused_total',
    'Requests and websockets refused because the client address had too many open connections.',
  );
  const minimumHeights = counter(
    'pdex_minimum_heights_total{outcome}',
    'Requests and operations that named a minimum height, by outcome: reached (at once), waited, or refused because it did not come in time (late), was too far ahead (ahead), too many waited (full), the client left (left), or the gateway was stopping (stopping).',
  );
  const waitingForHeight = gauge(
    'pdex_minimum_height_waiting',
    'Operations that wait until the gateway has the minimum height that they name.',
  );
  const webSockets = gauge('pdex_websockets', 'Open websockets.');
  const webSocketCloses = counter(
    'pdex_websocket_closes_total{code}',
    'Websockets that closed, by close code. 1006 means that the connection was lost. Codes that neither RFC 6455 nor graphql-ws defines are other.',
  );
  const calls = counter(
    'pdex_upstream_calls_total{upstream,method,outcome}',
    'Requests to upstreams, by upstream, method and outcome (OK or the error code).',
  );
  const nodeCalls = counter(
    'pdex_node_calls_total{host,method,outcome}',
    'Requests to nodes, by host, method and outcome (OK or the error code).',
  );
  const callSeconds = histogram(
    'pdex_upstream_call_duration_seconds{upstream,method}',
    'Duration of requests to upstreams, successful or not, in seconds, by upstream and method.',
    UPSTREAM_SECONDS,
  );
  const bytesRead = counter(
    'pdex_upstream_read_bytes_total{upstream}',
    'Bytes of upstream responses read, after decompression, by upstream.',
  );
  const circuitOpen = gauge(
    'pdex_upstream_circuit_open{upstream,host}',
    '1 while the circuit of a host is open, so the gateway pauses requests to it; otherwise 0.',
  );

  return {
    ...{ responses, persisted, rateLimited, connectionsRefused, minimumHeights, waitingForHeight, webSockets },
    ...{ bytesRead, circuitOpen },
    contentType: registry.contentType,
    text: () => registry.metrics(),
    /** Counts a request to a host of an upstream, and its duration. */
    recordUpstreamCall({ upstream, method, outcome, seconds }: UpstreamCall, host: string): void {
      calls.inc({ upstream, method, outcome });
      if (upstream === 'NODE') nodeCalls.inc({ host, method, outcome });
      callSeconds.observe({ upstream, method }, seconds);
    },
    /** Counts a response of an HTTP endpoint. Event streams have no duration. */
    recordResponse(endpoint: string, status: number, seconds: number | undefined): void {
      requests.inc({ endpoint, status });
      if (seconds !== undefined) requestSeconds.observe({ endpoint }, seconds);
    },
    /** Counts an operation that was executed, or an update of a subscription. */
    recordOperation(type: OperationType, outcome: OperationOutcome, seconds?: number): void {
      operations.inc({ type, outcome });
      if (seconds !== undefined) operationSeconds.observe({ type }, seconds);
    },
    /** Counts the errors of one response to one client. Every transport calls it when it sends errors. */
    recordErrors(errors: readonly GraphQLError[] = []): void {
      for (const { extensions } of errors) errorsSent.inc({ code: errorCodeOf(extensions) });
    },
    /** Counts an operation that was not executed because it is invalid or exceeds a limit. */
    recordRefusedOperation: () => operations.inc({ type: 'any', outcome: 'refused' }),
    recordWebSocketClose: (code: number) => webSocketCloses.inc({ code: isKnownClose(code) ? String(code) : OTHER }),
    /** Adds the metrics of what the gateway follows. Called once. */
    registerSources: (service: Service) => registerSourceMetrics(service, factory),
    /** Adds the metrics of what a fleet reads once. Called once, and only with a fleet. */
    watchFleet: () => createFleetWatcher(factory),
  };
}

/** The label of all codes that are not known: a client can choose close codes. */
const OTHER = 'other';

function errorCodeOf({ code }: GraphQLError['extensions']): string {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? code : OTHER;
}

/** Whether RFC 6455 or its registry defines a close code, or graphql-ws. */
function isKnownClose(code: number): boolean {
  return (code >= 1000 && code <= 1014) || code in CloseCode;
}

function createFleetWatcher({ counter, histogram }: MetricFactory): FleetWatcher {
  const reads = counter(
    'pdex_fleet_reads_total{kind,outcome}',
    'Reads in a fleet, by kind and outcome: hit (from Redis), waited (from Redis, after another gateway had read it), read (from the upstream, for all gateways) or alone (from the upstream, because Redis could not be used or another gateway took too long).',
  );
  const damaged = counter(
    'pdex_fleet_damaged_total{kind}',
    'Values in Redis that could not be used, by kind: damaged, or of another version.',
  );
  const bytes = counter(
    'pdex_fleet_bytes_total{kind,direction}',
    'Bytes of values that were read from Redis (in) or written to it (out), by kind.',
  );
  const waits = histogram(
    'pdex_fleet_wait_seconds{kind}',
    'Time that a read waited for another gateway to read the same, in seconds, by kind.',
    WAIT_SECONDS,
  );

  return {
    ended: (kind, outcome) => reads.inc({ kind, outcome }),
    waited: (kind, seconds) => waits.observe({ kind }, seconds),
    moved: (kind, direction, count) => bytes.inc({ kind, direction }, count),
    damaged: (kind) => damaged.inc({ kind }),
  };
}
