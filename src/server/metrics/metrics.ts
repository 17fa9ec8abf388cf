import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Upstream } from '../../errors.ts';
import type { Service } from '../../graphql/context.ts';
import type { UpstreamCall } from '../../upstream/health.ts';
import { type Count, createCounts, createTimes } from './counters.ts';
import { describeSources } from './source-metrics.ts';

/** What is counted, for a Prometheus to read. Labels come from bounded sets only. */
export type Metrics = {
  readonly contentType: string;
  text(): Promise<string>;
  /** A call to an upstream has ended. */
  calledUpstream(call: UpstreamCall): void;
  /** An answer of an upstream was read. */
  readUpstream(upstream: Upstream, bytes: number): void;
  /** A host begins to be left alone because it is down, or no longer is. */
  leftAlone(upstream: Upstream, host: string, isLeftAlone: boolean): void;
  /** What counts the requests of a door. */
  requestsOf(door: string): RequestCount;
  /** A plain query over HTTP was answered: with an answer that was kept, or with one that was made then. */
  answered(from: ResponseSource): void;
  /** An operation was executed, or one update of a subscription was. */
  executed(type: OperationType, outcome: Outcome, seconds?: number): void;
  /** An operation was not executed: its document is wrong or too much. */
  refusedOperation(): void;
  /** Something was refused because its client asked for too much at a time. */
  limitedRate(door: OperationTransport): void;
  /** A request or a websocket was refused because its client has too many open. */
  refusedConnection(): void;
  /** A websocket opened (1) or closed (-1). */
  countWebSockets(difference: 1 | -1): void;
  /** Adds what the gateway follows: how old it is, who listens, what was passed over. */
  describe(service: Service): void;
};

/** Counts the requests of one door. */
export type RequestCount = {
  /** The name of the door. */
  readonly endpoint: string;
  /** A request was answered with a status; a stream of events has no time that means anything. */
  answered(status: number, seconds: number | undefined): void;
};

/** What was executed. */
export type OperationType = 'query' | 'subscribe' | 'update';

/** Where operations come in. */
export type OperationTransport = 'http' | 'websocket';

/** Where the answer to a plain query comes from. */
export type ResponseSource = 'kept' | 'shared' | 'executed';

/** How it ended: with whole data, with errors beside the data, or without data. */
export type Outcome = 'whole' | 'partial' | 'failed';

const ANSWER_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const UPSTREAM_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Gauges of the library that are named like counters, which Prometheus' own check refuses. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Makes the metrics of one gateway, those of the process among them. */
export function createMetrics(version: string, isSandbox = false): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);

  new Gauge({
    name: 'pdex_build_info',
    help: 'Always 1. The labels are the versions of the gateway and of Node.js, and whether the sandbox is on.',
    labelNames: ['version', 'node', 'sandbox'],
    registers,
  }).set({ version, node: process.version, sandbox: String(isSandbox) }, 1);
  const requests = createCounts(
    {
      name: 'pdex_http_requests_total',
      help: 'HTTP requests with a response, by endpoint (label door) and status.',
      labelNames: ['door', 'status'],
    },
    registry,
  );
  const requestSeconds = createTimes(
    {
      name: 'pdex_http_request_duration_seconds',
      help: 'Time from the request headers to the end of the response, in seconds, by endpoint (label door). Event streams are not included.',
      labelNames: ['door'],
      buckets: ANSWER_SECONDS,
    },
    registry,
  );
  const answersFrom = createCounts(
    {
      name: 'pdex_answers_total',
      help: 'Responses to plain queries over HTTP, by origin: kept (from the response cache), shared (one execution for several concurrent requests) or executed.',
      labelNames: ['from'],
    },
    registry,
  );
  const answers = {
    kept: answersFrom(['kept']),
    shared: answersFrom(['shared']),
    executed: answersFrom(['executed']),
  };
  const operations = createCounts(
    {
      name: 'pdex_operations_total',
      help: 'Operations, by type and outcome. Each update of a subscription counts as one operation.',
      labelNames: ['type', 'outcome'],
    },
    registry,
  );
  const operationSeconds = createTimes(
    {
      name: 'pdex_operation_duration_seconds',
      help: 'Time to execute a query or to start a subscription, in seconds, by type.',
      labelNames: ['type'],
      buckets: ANSWER_SECONDS,
    },
    registry,
  );
  const updates = new Counter({
    name: 'pdex_updates_sent_total',
    help: 'Subscription updates sent to subscribers.',
    registers,
  });
  const rateLimited = new Counter({
    name: 'pdex_rate_limited_total',
    help: 'Requests and operations refused because the client address exceeded the rate limit, by transport (label door).',
    labelNames: ['door'],
    registers,
  });
  const connectionsRefused = new Counter({
    name: 'pdex_connections_refused_total',
    help: 'Requests and websockets refused because the client address had too many open connections.',
    registers,
  });
  const webSockets = new Gauge({ name: 'pdex_websockets', help: 'Open websockets.', registers });
  const calls = new Counter({
    name: 'pdex_upstream_calls_total',
    help: 'Requests to upstreams, by upstream, method and outcome (OK or the error code).',
    labelNames: ['upstream', 'method', 'outcome'],
    registers,
  });
  const callSeconds = new Histogram({
    name: 'pdex_upstream_call_duration_seconds',
    help: 'Duration of requests to upstreams, successful or not, in seconds, by upstream and method.',
    labelNames: ['upstream', 'method'],
    buckets: UPSTREAM_SECONDS,
    registers,
  });
  const bytesRead = new Counter({
    name: 'pdex_upstream_read_bytes_total',
    help: 'Bytes of upstream responses read, after decompression, by upstream.',
    labelNames: ['upstream'],
    registers,
  });
  const leftAlone = new Gauge({
    name: 'pdex_upstream_left_alone',
    help: '1 while the circuit of a host is open, so the gateway pauses requests to it; otherwise 0.',
    labelNames: ['upstream', 'host'],
    registers,
  });

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    calledUpstream({ upstream, method, outcome, seconds }) {
      calls.inc({ upstream, method, outcome });
      callSeconds.observe({ upstream, method }, seconds);
    },
    readUpstream: (upstream, bytes) => bytesRead.inc({ upstream }, bytes),
    leftAlone: (upstream, host, isLeftAlone) => leftAlone.set({ upstream, host }, Number(isLeftAlone)),
    requestsOf(door) {
      const times = requestSeconds([door]);
      const statuses = new Map<number, Count>();
      return {
        endpoint: door,
        answered(status, seconds) {
          const count = statuses.get(status) ?? requests([door, status]);
          statuses.set(status, count);
          count.add();
          if (seconds !== undefined) times.observe(seconds);
        },
      };
    },
    answered: (from) => answers[from].add(),
    executed(type, outcome, seconds) {
      if (type === 'update') updates.inc();
      operations([type, outcome]).add();
      if (seconds !== undefined) operationSeconds([type]).observe(seconds);
    },
    refusedOperation: () => operations(['any', 'refused']).add(),
    limitedRate: (door) => rateLimited.inc({ door }),
    refusedConnection: () => connectionsRefused.inc(),
    countWebSockets: (difference) => webSockets.inc(difference),
    describe: (service) => describeSources(service, registry),
  };
}
