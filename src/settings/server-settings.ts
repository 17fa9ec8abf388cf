import { ADDRESS_LIMITS } from '../graphql/limits.ts';
import { LOG_LEVELS } from '../logging/log.ts';
import { ACCESS_LOG_MODES } from '../server/access-log.ts';
import { OTLP_PROTOCOLS, TRACE_SAMPLERS } from '../tracing/tracing.ts';
import { readPersistedManifest } from './files.ts';
import {
  BOOLEAN,
  declare,
  INTERVAL,
  LIST,
  OPTIONAL_LIMIT,
  OPTIONAL_URL,
  oneOf,
  optional,
  PORT,
  whole,
} from './kinds.ts';
import {
  MIN_INTERVAL_MS,
  readHeaderPairs,
  readHost,
  readList,
  readPairs,
  readProxy,
  readShare,
  readUrl,
} from './readers.ts';

/** The default of `RATE_LIMIT_BURST`, in seconds of `RATE_LIMIT_PER_SECOND`. */
export const DEFAULT_BURST_SECONDS = 10;

/** What the server offers, and the log. */
export const SERVER = declare({
  explorer: {
    ...BOOLEAN,
    default: 'true',
    // The server of a program has pages of its own.
    optionDefault: 'false',
    meaning: 'Whether browsers get the explorer at `/`: true or false.',
  },
  publicUrl: {
    meaning:
      'URL at which browsers open the explorer, such as `https://dex.example`. Previews of its links, for example in a chat, need it to find their picture.',
    read: optional(readUrl),
  },
  graphiql: {
    ...BOOLEAN,
    default: 'true',
    meaning: 'Whether browsers get GraphiQL: true or false.',
  },
  rest: {
    ...BOOLEAN,
    default: 'true',
    meaning:
      'Whether the REST API is served, with the datafeed `/udf` and `/openapi.json`: true or false. If false, order books are not read in turn.',
  },
  persistedDocuments: {
    meaning:
      'Path of a manifest of persisted documents, as `relay-compiler` or `generate-persisted-query-manifest` of Apollo write it.',
    read: optional(readPersistedManifest),
  },
  persistedOnly: {
    ...BOOLEAN,
    default: 'false',
    meaning:
      'Whether only persisted documents are executed: true or false. If true, every other operation fails with `PERSISTED_QUERY_ONLY`, and browsers get neither GraphiQL nor the explorer.',
  },
  adminPort: {
    kind: 'number',
    meaning:
      'Port for `/health`, `/ready` and `/metrics`, which are then no longer on `PORT`. With 0, the system chooses a free port, which the log contains. By default, there is no such port.',
    read: optional(PORT.read),
  },
  adminHost: {
    meaning: 'Address to listen on for `ADMIN_PORT`. By default, the same as for `PORT`.',
    read: optional(readHost),
  },
  responseCacheBytes: {
    ...whole(0),
    default: '33554432',
    meaning: 'Maximum size of the response cache, in bytes. 0 turns it off.',
  },
  keepAliveMs: {
    ...INTERVAL,
    default: '12000',
    meaning: `How often the gateway pings websockets and idle event streams, in milliseconds. It disconnects a client that does not respond, or does not read a response, within two such intervals. A request must arrive completely within one and a half. Minimum ${MIN_INTERVAL_MS}.`,
  },
  stopWindowMs: {
    ...whole(0),
    default: '3000',
    meaning:
      'After a stop signal: how long the gateway still accepts requests while it closes websockets and streams one after another, in milliseconds.',
  },
  stopTimeoutMs: {
    ...whole(0),
    default: '3000',
    meaning: 'After `STOP_WINDOW_MS`: maximum time for pending requests to finish, in milliseconds.',
  },
  logLevel: {
    ...oneOf(LOG_LEVELS),
    default: 'info',
    meaning: `Least severe level that is logged: ${LOG_LEVELS.join(', ')}.`,
  },
  accessLog: {
    ...oneOf(ACCESS_LOG_MODES),
    default: 'errors',
    meaning: `Which requests and operations are logged: ${ACCESS_LOG_MODES.join(', ')}. \`errors\` means refused operations and internal errors.`,
  },
});

/** The limits of a client address. */
export const RATE_LIMITS = declare({
  rateLimitPerSecond: {
    ...OPTIONAL_LIMIT,
    meaning: `${ADDRESS_LIMITS.rateLimitPerSecond.meaning} Not limited by default, and with 0.`,
  },
  rateLimitBurst: {
    ...OPTIONAL_LIMIT,
    meaning: `${ADDRESS_LIMITS.rateLimitBurst.meaning} By default, and with 0, the points of ${DEFAULT_BURST_SECONDS} seconds.`,
  },
  maxConnectionsPerAddress: {
    ...OPTIONAL_LIMIT,
    meaning: `${ADDRESS_LIMITS.maxConnectionsPerAddress.meaning} Not limited by default, and with 0.`,
  },
  trustedProxies: {
    ...LIST,
    meaning:
      'Proxies whose `X-Forwarded-For` headers are trusted: addresses or ranges, or `loopback`, `linklocal`, `uniquelocal`.',
    read: (text) => readList(text, readProxy),
  },
});

const PAIRS = 'Written as `name=value` pairs, percent-encoded and separated by commas.';

const OPENTELEMETRY = { isIgnoredIfWrong: true } as const;

/** Reads a text in upper or lower case. */
function anyCase<Value>(read: (text: string) => Value) {
  return (text: string) => read(text.toLowerCase());
}

/** The variables of OpenTelemetry, with its names, meanings and defaults, and read by its rules. */
export const TRACES = declare({
  otelExporterOtlpEndpoint: {
    ...OPENTELEMETRY,
    ...OPTIONAL_URL,
    meaning:
      'URL of an OpenTelemetry receiver. If it is set, the gateway sends traces to `<URL>/v1/traces`, or with grpc to the host of the URL.',
  },
  otelExporterOtlpHeaders: {
    ...OPENTELEMETRY,
    meaning: `HTTP headers of every request to the receiver. ${PAIRS}`,
    isSecret: true,
    read: readHeaderPairs,
  },
  otelExporterOtlpProtocol: {
    ...OPENTELEMETRY,
    kind: OTLP_PROTOCOLS,
    default: OTLP_PROTOCOLS[0],
    meaning: `How traces are sent: ${OTLP_PROTOCOLS.join(', ')}. Receivers usually have another port for grpc, 4317.`,
    read: anyCase(oneOf(OTLP_PROTOCOLS).read),
  },
  otelServiceName: {
    meaning:
      'Name of the gateway in traces. By default, service.name in `OTEL_RESOURCE_ATTRIBUTES`, or else `pdex-gateway`.',
    read: (text) => text,
  },
  otelResourceAttributes: {
    ...OPENTELEMETRY,
    meaning: `Further attributes of the gateway in traces. ${PAIRS}`,
    read: readPairs,
  },
  otelTracesSampler: {
    ...OPENTELEMETRY,
    kind: TRACE_SAMPLERS,
    default: 'parentbased_always_on',
    meaning: `Which traces are recorded: ${TRACE_SAMPLERS.join(', ')}. With \`parentbased_\`, a client that sends a trace context decides.`,
    read: anyCase(oneOf(TRACE_SAMPLERS).read),
  },
  otelTracesSamplerArg: {
    ...OPENTELEMETRY,
    kind: 'number',
    default: '1',
    meaning: 'Share of traces that the samplers with `traceidratio` record, from 0 to 1.',
    read: readShare,
  },
  otelSdkDisabled: {
    ...OPENTELEMETRY,
    kind: 'boolean',
    default: 'false',
    meaning: 'Whether traces are off even if a receiver is set: true or false.',
    read: anyCase(BOOLEAN.read),
  },
});
