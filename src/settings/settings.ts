import { STABLE_COINS } from '../domain/token.ts';
import { ADDRESS_LIMITS, LIMITS, type Limits, mapLimits } from '../graphql/limits.ts';
import { LOG_LEVELS } from '../logging/log.ts';
import { ACCESS_LOG_MODES } from '../server/access-log.ts';
import { OTLP_PROTOCOLS, TRACE_SAMPLERS } from '../tracing/tracing.ts';
import { DEFAULT_BACKFILL_STEP, DEFAULT_HISTORY_FILE, readHistoryDatabase } from './history-database.ts';
import { readPersistedManifest } from './persisted-manifest.ts';
import {
  MAX_INT32,
  MIN_INTERVAL_MS,
  readBoolean,
  readHeaderPairs,
  readHeaders,
  readList,
  readMatching,
  readOneOf,
  readOptionalLimit,
  readOrigins,
  readPairs,
  readProxy,
  readRedisUrls,
  readShare,
  readTokenId,
  readTokensFile,
  readUrl,
  readUrls,
  readWebSocketUrls,
  readWhole,
} from './readers.ts';

/** What an option of the library is, for a setting; on the command line and in the environment it is a text. */
export type OptionKind = 'text' | 'texts' | 'list' | 'headers' | 'number' | 'boolean' | readonly string[];

/** One setting. Its flag is its variable in lower case, with hyphens. Its option is its variable in camel case. */
export type Setting<Value = unknown> = {
  readonly variable: string;
  /** `texts` is one text or several, and words are one of them. `text` if it is not set. */
  readonly kind?: OptionKind;
  /** The text of the default. An empty text means that the setting is not set. */
  readonly default: string;
  /** The text of the default of the option, where it is another one. */
  readonly optionDefault?: string;
  /** The description in `--help`, the documents, `.env.example` and the options of the library. */
  readonly meaning: string;
  /** What the description adds for flags and variables. */
  readonly ofText?: string;
  /** Whether it is a variable of Node, which is read only with `NODE_USE_ENV_PROXY`, and first in lower case. */
  readonly isOfNode?: true;
  /** Whether a wrong variable is ignored with a warning, as OpenTelemetry specifies it. A wrong flag is an error. */
  readonly isIgnoredIfWrong?: true;
  /** Whether the text may contain a password or a key, so that it is never printed. */
  readonly isSecret?: true;
  /** Reads a text. @throws Error that says what was expected */
  readonly read: (text: string) => Value;
};

type Settings = Readonly<Record<string, Setting>>;

/** Connections to each upstream that are reserved for polling, so that clients never delay it. */
export const RESERVED_CONNECTIONS = 2;

/** The default of `RATE_LIMIT_BURST`, in seconds of `RATE_LIMIT_PER_SECOND`. */
export const DEFAULT_BURST_SECONDS = 10;

/** A hundred years. */
const MAX_DAYS = 36_500;

const COMMAS = 'Separated by commas.';
const PAIRS = 'Written as `name=value` pairs, percent-encoded and separated by commas.';
const HEADER_LINES = 'Written as `name: value` lines, separated by line breaks or `\\n`.';

// What the settings of one type have in common.
const BOOLEAN = { kind: 'boolean', read: readBoolean } as const;
const PORT = whole(0, 65_535);
const MILLISECONDS = whole(1);
const INTERVAL = whole(MIN_INTERVAL_MS);
const OPTIONAL_LIMIT = { kind: 'number', default: '', read: readOptionalLimit } as const;
const HEADERS = { kind: 'headers', default: '', ofText: HEADER_LINES, isSecret: true, read: readHeaders } as const;
const LIST = { kind: 'list', default: '', ofText: COMMAS } as const;
const URLS = { kind: 'texts', default: '', ofText: COMMAS, isSecret: true } as const;
const OPTIONAL_URL = { default: '', isSecret: true, read: optional(readUrl) } as const;

function oneOf<Word extends string>(words: readonly Word[]) {
  return { kind: words, read: (text: string) => readOneOf(text, words) };
}

/** A whole number in this range. */
function whole(min: number, max = MAX_INT32) {
  return { kind: 'number', read: (text: string) => readWhole(text, min, max) } as const;
}

/** Reads `undefined` from an empty text. */
function optional<Value>(read: (text: string) => Value) {
  return (text: string) => (text === '' ? undefined : read(text));
}

const ESSENTIAL = {
  fullnodeUrls: {
    ...URLS,
    variable: 'FULLNODE_URL',
    meaning: "URL of the full node's JSON-RPC API, or several URLs.",
    read: readUrls,
  },
  marketDataUrl: {
    ...OPTIONAL_URL,
    variable: 'MARKET_DATA_URL',
    meaning:
      'URL of the market-data host. The gateway appends the path `/api/v1/public/<partner>/…`, or the part of it that the URL lacks.',
  },
  host: {
    variable: 'HOST',
    default: '127.0.0.1',
    meaning: 'Address to listen on.',
    read: (text) => readMatching(text, /./, 'an address'),
  },
  port: {
    ...PORT,
    variable: 'PORT',
    default: '4000',
    meaning: 'Port to listen on. With 0, the system chooses a free port, which the log contains.',
  },
  tokens: {
    variable: 'TOKENS_FILE',
    default: '',
    meaning:
      'Path of a JSON file `[{"id", "symbol", "decimals"}]`. Its tokens override those of `TOKENS_URL` and of the built-in list.',
    read: (path) => (path === '' ? [] : readTokensFile(path)),
  },
  corsOrigins: {
    ...LIST,
    variable: 'CORS_ORIGINS',
    meaning:
      "Origins of pages that can send requests and open websockets, besides the gateway's own, or `*` for all. `https://*.app.example` stands for all subdomains.",
    read: readOrigins,
  },
} satisfies Settings;

const UPSTREAMS = {
  fullnodeWsUrls: {
    ...URLS,
    variable: 'FULLNODE_WS_URL',
    meaning:
      'URL of the websocket on which the full node pushes new blocks, or as many URLs as `FULLNODE_URL` has, in the same order. An empty entry means a node without a websocket. By default, the gateway only polls.',
    read: readWebSocketUrls,
  },
  fullnodeHeaders: {
    ...HEADERS,
    variable: 'FULLNODE_HEADERS',
    meaning: 'HTTP headers of every request to a node, also of the request that opens its websocket.',
  },
  marketDataHeaders: {
    ...HEADERS,
    variable: 'MARKET_DATA_HEADERS',
    meaning: 'HTTP headers of every request to the market-data host.',
  },
  tokensUrl: {
    ...OPTIONAL_URL,
    variable: 'TOKENS_URL',
    meaning:
      'URL of the token list of a token service, `…/coins/tokenlist`. Its tokens override those of the built-in list.',
  },
  usdTokens: {
    ...LIST,
    variable: 'USD_TOKENS',
    meaning:
      'Ids of the tokens that are worth one US dollar by definition. All prices in US dollars follow from their pools. Their decimals must be known. By default, USDT, USDC and DAI of the built-in list.',
    read: (text) => (text === '' ? STABLE_COINS : readList(text, readTokenId)),
  },
  marketDataPartner: {
    variable: 'MARKET_DATA_PARTNER',
    default: 'market-data',
    meaning:
      'Path segment that names the partner, unless `MARKET_DATA_URL` contains one. The paths of the REST API always contain it.',
    read: (text) => readMatching(text, /^(?!\.\.?$)[\w.~-]+$/, 'one segment of a path: letters, digits and - . _ ~'),
  },
  upstreamTimeoutMs: {
    ...MILLISECONDS,
    variable: 'UPSTREAM_TIMEOUT_MS',
    default: '10000',
    meaning: 'Maximum time for a complete response of an upstream, in milliseconds.',
  },
  upstreamMaxConnections: {
    ...whole(RESERVED_CONNECTIONS + 1),
    variable: 'UPSTREAM_MAX_CONNECTIONS',
    default: '16',
    meaning: `Maximum number of connections to one upstream host. Minimum ${RESERVED_CONNECTIONS + 1}, because ${RESERVED_CONNECTIONS} are reserved for polling.`,
  },
  upstreamMaxWaiting: {
    ...whole(0),
    variable: 'UPSTREAM_MAX_WAITING',
    default: '1000',
    meaning:
      'Maximum number of client requests queued for an upstream. When the queue is full, the newest request of the client with the most queued requests fails with `UPSTREAM_BUSY`.',
  },
  upstreamMaxPauseMs: {
    ...MILLISECONDS,
    variable: 'UPSTREAM_MAX_PAUSE_MS',
    default: '15000',
    meaning: 'Maximum back-off before the gateway tries a failing upstream again, in milliseconds.',
  },
} satisfies Settings;

const PROXY = {
  isOfNode: true,
  default: '',
  ofText: 'The variable is read only with `NODE_USE_ENV_PROXY=1`.',
} as const;

/** The variables of Node for proxies, with its names and meanings. */
const PROXIES = {
  httpProxy: {
    ...OPTIONAL_URL,
    ...PROXY,
    variable: 'HTTP_PROXY',
    meaning: 'URL of the proxy of requests to URLs with `http` and `ws`.',
  },
  httpsProxy: {
    ...OPTIONAL_URL,
    ...PROXY,
    variable: 'HTTPS_PROXY',
    meaning: 'URL of the proxy of requests to URLs with `https` and `wss`.',
  },
  noProxy: {
    ...LIST,
    ...PROXY,
    variable: 'NO_PROXY',
    meaning:
      'Hosts that are requested without a proxy: `host`, `host:port`, `.domain`, `*.domain`, an address, a range of addresses `10.0.0.1-10.0.0.9`, or `*` for all.',
    ofText: `${COMMAS} ${PROXY.ofText}`,
    read: (text) => readList(text, (entry) => entry),
  },
} satisfies Settings;

const FRESHNESS = {
  headPollMs: {
    ...INTERVAL,
    variable: 'HEAD_POLL_MS',
    default: '1000',
    meaning: `How often the gateway polls the node for a new block, in milliseconds. Minimum ${MIN_INTERVAL_MS}. While a websocket of \`FULLNODE_WS_URL\` is open, the interval is at least 10 seconds, and each pushed block is polled at once.`,
  },
  maxBlockAgeMs: {
    ...MILLISECONDS,
    variable: 'MAX_BLOCK_AGE_MS',
    default: '600000',
    meaning:
      'Maximum age of the newest block, by its own timestamp, in milliseconds. If it is older, the head is stale and `/ready` returns 503.',
  },
  marketPollMs: {
    ...INTERVAL,
    variable: 'MARKET_POLL_MS',
    default: '10000',
    meaning: `How often the gateway polls pairs and tickers, in milliseconds. Minimum ${MIN_INTERVAL_MS}.`,
  },
  marketMaxAgeMs: {
    ...MILLISECONDS,
    variable: 'MARKET_MAX_AGE_MS',
    default: '600000',
    meaning:
      'Maximum age of pairs and tickers while the market-data host fails, in milliseconds. After that, their fields fail with the error of the host.',
  },
  tokensPollMs: {
    ...INTERVAL,
    variable: 'TOKENS_POLL_MS',
    default: '3600000',
    meaning: `How often the gateway reads \`TOKENS_URL\`, in milliseconds. Minimum ${MIN_INTERVAL_MS}.`,
  },
  orderBookTtlMs: {
    ...INTERVAL,
    variable: 'ORDER_BOOK_TTL_MS',
    default: '1000',
    meaning: `How long the gateway serves the same snapshot of an order book to all clients, in milliseconds. Minimum ${MIN_INTERVAL_MS}.`,
  },
  bookSweepPerMinute: {
    ...whole(0, 6_000),
    variable: 'BOOK_SWEEP_PER_MINUTE',
    default: '55',
    meaning:
      'How many order books the gateway reads in each minute, one after another, for `bid` and `ask` in the tickers of the REST API. If there are more tickers than that, a round takes longer than a minute. The replicas of a fleet read each book once. 0 turns it off.',
  },
} satisfies Settings;

const SERVER = {
  explorer: {
    ...BOOLEAN,
    variable: 'EXPLORER',
    default: 'true',
    // The server of a program has pages of its own.
    optionDefault: 'false',
    meaning: 'Whether browsers get the explorer at `/`: true or false.',
  },
  publicUrl: {
    variable: 'PUBLIC_URL',
    default: '',
    meaning:
      'URL at which browsers open the explorer, such as `https://dex.example`. Previews of its links, for example in a chat, need it to find their picture.',
    read: optional(readUrl),
  },
  graphiql: {
    ...BOOLEAN,
    variable: 'GRAPHIQL',
    default: 'true',
    meaning: 'Whether browsers get GraphiQL: true or false.',
  },
  rest: {
    ...BOOLEAN,
    variable: 'REST',
    default: 'true',
    meaning: 'Whether pairs, tickers and order books are also served as a REST API: true or false.',
  },
  persistedDocuments: {
    variable: 'PERSISTED_DOCUMENTS',
    default: '',
    meaning:
      'Path of a manifest of persisted documents, as `relay-compiler` or `generate-persisted-query-manifest` of Apollo write it.',
    read: optional(readPersistedManifest),
  },
  persistedOnly: {
    ...BOOLEAN,
    variable: 'PERSISTED_ONLY',
    default: 'false',
    meaning:
      'Whether only persisted documents are executed: true or false. If true, every other operation fails with `PERSISTED_QUERY_ONLY`, and browsers get neither GraphiQL nor the explorer.',
  },
  adminPort: {
    variable: 'ADMIN_PORT',
    kind: 'number',
    default: '',
    meaning:
      'Port for `/health`, `/ready` and `/metrics`, which are then no longer on `PORT`. With 0, the system chooses a free port, which the log contains. By default, there is no such port.',
    read: optional(PORT.read),
  },
  adminHost: {
    variable: 'ADMIN_HOST',
    default: '',
    meaning: 'Address to listen on for `ADMIN_PORT`. By default, the same as for `PORT`.',
    read: (text) => text || undefined,
  },
  responseCacheBytes: {
    ...whole(0),
    variable: 'RESPONSE_CACHE_BYTES',
    default: '33554432',
    meaning: 'Maximum size of the response cache, in bytes. 0 turns it off.',
  },
  keepAliveMs: {
    ...INTERVAL,
    variable: 'KEEP_ALIVE_MS',
    default: '12000',
    meaning: `How often the gateway pings websockets and idle event streams, in milliseconds. It disconnects a client that does not respond within two such intervals. Minimum ${MIN_INTERVAL_MS}.`,
  },
  stopWindowMs: {
    ...whole(0),
    variable: 'STOP_WINDOW_MS',
    default: '3000',
    meaning:
      'After a stop signal: how long the gateway still accepts requests while it closes websockets and streams one after another, in milliseconds.',
  },
  stopTimeoutMs: {
    ...whole(0),
    variable: 'STOP_TIMEOUT_MS',
    default: '3000',
    meaning: 'After `STOP_WINDOW_MS`: maximum time for pending requests to finish, in milliseconds.',
  },
  logLevel: {
    ...oneOf(LOG_LEVELS),
    variable: 'LOG_LEVEL',
    default: 'info',
    meaning: `Least severe level that is logged: ${LOG_LEVELS.join(', ')}.`,
  },
  accessLog: {
    ...oneOf(ACCESS_LOG_MODES),
    variable: 'ACCESS_LOG',
    default: 'errors',
    meaning: `Which requests and operations are logged: ${ACCESS_LOG_MODES.join(', ')}. \`errors\` means refused operations and internal errors.`,
  },
} satisfies Settings;

const RATE_LIMITS = {
  rateLimitPerSecond: {
    ...OPTIONAL_LIMIT,
    variable: 'RATE_LIMIT_PER_SECOND',
    meaning: `${ADDRESS_LIMITS.rateLimitPerSecond.meaning} Not limited by default.`,
  },
  rateLimitBurst: {
    ...OPTIONAL_LIMIT,
    variable: 'RATE_LIMIT_BURST',
    meaning: `${ADDRESS_LIMITS.rateLimitBurst.meaning} By default, the points of ${DEFAULT_BURST_SECONDS} seconds.`,
  },
  maxConnectionsPerAddress: {
    ...OPTIONAL_LIMIT,
    variable: 'MAX_CONNECTIONS_PER_ADDRESS',
    meaning: `${ADDRESS_LIMITS.maxConnectionsPerAddress.meaning} Not limited by default.`,
  },
  trustedProxies: {
    ...LIST,
    variable: 'TRUSTED_PROXIES',
    meaning:
      'Proxies whose `X-Forwarded-For` headers are trusted: addresses or ranges, or `loopback`, `linklocal`, `uniquelocal`.',
    read: (text) => readList(text, readProxy),
  },
} satisfies Settings;

const OPENTELEMETRY = { isIgnoredIfWrong: true } as const;

/** One of these words, in upper or lower case. */
function anyCaseOf<Word extends string>(words: readonly Word[]) {
  return { ...OPENTELEMETRY, kind: words, read: (text: string) => readOneOf(text.toLowerCase(), words) };
}

/** The variables of OpenTelemetry, with its names, meanings and defaults, and read by its rules. */
const TRACES = {
  otlpEndpoint: {
    ...OPENTELEMETRY,
    ...OPTIONAL_URL,
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    meaning:
      'URL of an OpenTelemetry receiver. If it is set, the gateway sends traces to `<URL>/v1/traces`, or with grpc to the host of the URL.',
  },
  otlpHeaders: {
    ...OPENTELEMETRY,
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    default: '',
    meaning: `HTTP headers of every request to the receiver. ${PAIRS}`,
    isSecret: true,
    read: readHeaderPairs,
  },
  otlpProtocol: {
    ...anyCaseOf(OTLP_PROTOCOLS),
    variable: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    default: OTLP_PROTOCOLS[0],
    meaning: `How traces are sent: ${OTLP_PROTOCOLS.join(', ')}. Receivers usually have another port for grpc, 4317.`,
  },
  traceServiceName: {
    variable: 'OTEL_SERVICE_NAME',
    default: '',
    meaning:
      'Name of the gateway in traces. By default, service.name in `OTEL_RESOURCE_ATTRIBUTES`, or else `pdex-gateway`.',
    read: (text) => text,
  },
  traceResource: {
    ...OPENTELEMETRY,
    variable: 'OTEL_RESOURCE_ATTRIBUTES',
    default: '',
    meaning: `Further attributes of the gateway in traces. ${PAIRS}`,
    read: readPairs,
  },
  traceSampler: {
    ...anyCaseOf(TRACE_SAMPLERS),
    variable: 'OTEL_TRACES_SAMPLER',
    default: 'parentbased_always_on',
    meaning: `Which traces are recorded: ${TRACE_SAMPLERS.join(', ')}. With \`parentbased_\`, a client that sends a trace context decides.`,
  },
  traceSamplerArg: {
    ...OPENTELEMETRY,
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    kind: 'number',
    default: '1',
    meaning: 'Share of traces that the samplers with `traceidratio` record, from 0 to 1.',
    read: readShare,
  },
  tracingDisabled: {
    ...OPENTELEMETRY,
    variable: 'OTEL_SDK_DISABLED',
    kind: 'boolean',
    default: 'false',
    meaning: 'Whether traces are off even if a receiver is set: true or false.',
    read: (text) => readBoolean(text.toLowerCase()),
  },
} satisfies Settings;

const HISTORY = {
  historyDatabase: {
    variable: 'HISTORY_DATABASE',
    default: '',
    meaning: `Where the history of the exchange is recorded: the path of a SQLite file, a \`postgres://\` URL, \`memory\`, or \`off\`. By default \`memory\` with the built-in sandbox, otherwise \`${DEFAULT_HISTORY_FILE}\` in the working directory.`,
    isSecret: true,
    read: readHistoryDatabase,
  },
  historyRawDays: {
    ...whole(1, MAX_DAYS),
    variable: 'HISTORY_RAW_DAYS',
    default: '7',
    meaning:
      'How long each change of a pool is stored, in days by the times of blocks. Candles of up to 15 minutes are stored for at least 90 days, and longer candles forever.',
  },
  historyBackfillHours: {
    variable: 'HISTORY_BACKFILL_HOURS',
    kind: 'number',
    default: '',
    meaning:
      'How far back the gateway reads missing heights from the node, in hours before the newest block. 0 turns this off. By default 24, and 168 with the built-in sandbox.',
    read: optional(whole(0, MAX_DAYS * 24).read),
  },
  historyBackfillStep: {
    variable: 'HISTORY_BACKFILL_STEP',
    kind: 'number',
    default: '',
    meaning: `Step between the missing heights that the gateway reads from the node: with 12, it reads every twelfth height. It fills shorter gaps completely. By default ${DEFAULT_BACKFILL_STEP}; of the newest day of the built-in sandbox, it reads every height.`,
    read: optional(whole(1).read),
  },
} satisfies Settings;

const FLEET = {
  redisUrl: {
    ...URLS,
    variable: 'REDIS_URL',
    meaning:
      'URL of the Redis that the gateways of a fleet share: `redis://`, or `rediss://` over TLS. Several URLs are nodes of a cluster. For a cluster with one endpoint, the scheme is `redis+cluster://`. For Sentinels, the URL is `redis+sentinel://host:26379/<name of the primary>`. By default, the gateway works alone.',
    read: readRedisUrls,
  },
  redisPrefix: {
    variable: 'REDIS_PREFIX',
    default: 'pdex',
    meaning:
      'Prefix of all keys in Redis. Gateways with the same `REDIS_URL` and the same prefix are one fleet, and must follow the same chain.',
    read: (text) => readMatching(text, /^[\w.:-]{1,64}$/, '1 to 64 letters, digits and - . _ :'),
  },
} satisfies Settings;

const SANDBOX = {
  sandbox: {
    variable: 'SANDBOX',
    kind: 'boolean',
    default: '',
    meaning:
      'Whether to serve simulated data of the built-in sandbox: true or false. By default, true if no upstream is configured.',
    ofText: 'With `NODE_ENV=production`, false by default.',
    read: optional(readBoolean),
  },
  sandboxBlockMs: {
    ...MILLISECONDS,
    variable: 'SANDBOX_BLOCK_MS',
    default: '4000',
    meaning: 'Block interval of the sandbox, in milliseconds.',
  },
} satisfies Settings;

/** The settings by subject, in the order in which they are printed. */
export const SETTING_GROUPS = {
  'The six that matter first': ESSENTIAL,
  Upstreams: UPSTREAMS,
  Proxies: PROXIES,
  Freshness: FRESHNESS,
  Server: SERVER,
  Limits: mapLimits(limitSetting),
  'Rate limits': RATE_LIMITS,
  'Traces (OpenTelemetry)': TRACES,
  History: HISTORY,
  'Fleet (Redis)': FLEET,
  Sandbox: SANDBOX,
} satisfies Readonly<Record<string, Settings>>;

/** All settings. */
export const SETTINGS = {
  ...ESSENTIAL,
  ...UPSTREAMS,
  ...PROXIES,
  ...FRESHNESS,
  ...SERVER,
  ...SETTING_GROUPS.Limits,
  ...RATE_LIMITS,
  ...TRACES,
  ...HISTORY,
  ...FLEET,
  ...SANDBOX,
};

/** The values of all settings. */
export type Config = { readonly [Key in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Key]['read']> };

/** The flag of a setting, without its hyphens in front. */
export function flagOf({ variable }: Setting): string {
  return variable.toLowerCase().replaceAll('_', '-');
}

/** The description of a setting for the command line and the environment. */
export function descriptionOf({ meaning, ofText }: Setting): string {
  return ofText === undefined ? meaning : `${meaning} ${ofText}`;
}

/** The name of a setting as an option of the library. */
export function optionOf({ variable }: Setting): string {
  return variable.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A limit has the same name as a variable and as a field of `service.limits`. */
function limitSetting(name: keyof Limits): Setting<number> {
  return {
    ...whole(1),
    variable: name.replace(/[A-Z]/g, '_$&').toUpperCase(),
    default: String(LIMITS[name].default),
    meaning: LIMITS[name].meaning,
  };
}
