import type { Config } from './config.ts';
import { DEFAULT_LIMITS, type Limits } from './graphql/limits.ts';
import {
  LOG_LEVELS,
  MAX_INT32,
  MAX_TIMER_MS,
  readBoolean,
  readHost,
  readInterval,
  readLogLevel,
  readOptionalLimit,
  readOrigin,
  readProxy,
  readSegment,
  readTokensFile,
  readUrl,
  readWhole,
} from './setting-readers.ts';

/** One setting: a flag of the command line, which comes first, and a variable of the environment. */
export type Setting<Value = unknown> = {
  readonly flag: string;
  readonly variable: string;
  /** As it would be written; the empty text is no value. */
  readonly default: string;
  readonly meaning: string;
  /** Reads a text. @throws Error that says what was expected */
  readonly read: (text: string) => Value;
};

/** All settings: what settings-text.ts prints, and config.ts reads. */
export const SETTINGS: { readonly [Key in keyof Config]: Setting<Config[Key]> } = {
  fullnodeUrls: {
    flag: 'fullnode-url',
    variable: 'FULLNODE_URL',
    default: '',
    meaning: "the node's JSON-RPC: one URL, or several separated by commas",
    read: (text) => (text === '' ? [] : text.split(',').map((url) => readUrl(url.trim()))),
  },
  marketDataUrl: {
    flag: 'market-data-url',
    variable: 'MARKET_DATA_URL',
    default: '',
    meaning: 'the market-data host; the path `/api/v1/public/<partner>/…` is added',
    read: (text) => (text === '' ? undefined : readUrl(text)),
  },
  marketDataPartner: {
    flag: 'market-data-partner',
    variable: 'MARKET_DATA_PARTNER',
    default: 'market-data',
    meaning: 'the path segment that names the partner',
    read: readSegment,
  },
  host: {
    flag: 'host',
    variable: 'HOST',
    default: '127.0.0.1',
    meaning: 'the address to listen on',
    read: readHost,
  },
  port: {
    flag: 'port',
    variable: 'PORT',
    default: '4000',
    meaning: 'the port to listen on; 0 takes a free one, and the log names it',
    read: (text) => readWhole(text, 0, 65_535),
  },
  tokens: {
    flag: 'tokens-file',
    variable: 'TOKENS_FILE',
    default: '',
    meaning: 'a JSON file `[{"id", "symbol", "decimals"}]`, laid over the built-in list of tokens',
    read: (path) => (path === '' ? [] : readTokensFile(path)),
  },
  headPollMs: {
    flag: 'head-poll-ms',
    variable: 'HEAD_POLL_MS',
    default: '1000',
    meaning: 'how often the tip of the chain is looked at; 50 or more',
    read: readInterval,
  },
  marketPollMs: {
    flag: 'market-poll-ms',
    variable: 'MARKET_POLL_MS',
    default: '10000',
    meaning: 'how often pairs and tickers are read; 50 or more',
    read: readInterval,
  },
  orderBookTtlMs: {
    flag: 'order-book-ttl-ms',
    variable: 'ORDER_BOOK_TTL_MS',
    default: '1000',
    meaning: 'how long one reading of an order book serves everyone; 50 or more',
    read: readInterval,
  },
  upstreamTimeoutMs: {
    flag: 'upstream-timeout-ms',
    variable: 'UPSTREAM_TIMEOUT_MS',
    default: '10000',
    meaning: 'how long an upstream may take for a whole answer',
    read: (text) => readWhole(text, 1, MAX_TIMER_MS),
  },
  upstreamMaxConnections: {
    flag: 'upstream-max-connections',
    variable: 'UPSTREAM_MAX_CONNECTIONS',
    default: '16',
    meaning: 'how many connections there are at once to one upstream host; two are for what follows it, so 3 or more',
    read: (text) => readWhole(text, 3, MAX_INT32),
  },
  upstreamMaxWaiting: {
    flag: 'upstream-max-waiting',
    variable: 'UPSTREAM_MAX_WAITING',
    default: '1000',
    meaning:
      'how many questions of clients may wait for an upstream; with one more, the newest of who asks the most is `UPSTREAM_BUSY`',
    read: (text) => readWhole(text, 0, MAX_INT32),
  },
  upstreamMaxPauseMs: {
    flag: 'upstream-max-pause-ms',
    variable: 'UPSTREAM_MAX_PAUSE_MS',
    default: '15000',
    meaning: 'how long an upstream that is down is left alone at the most before it is tried again',
    read: (text) => readWhole(text, 1, MAX_TIMER_MS),
  },
  marketMaxAgeMs: {
    flag: 'market-max-age-ms',
    variable: 'MARKET_MAX_AGE_MS',
    default: '600000',
    meaning: 'how old pairs and tickers may become while their host cannot be read; then its error is told instead',
    read: (text) => readWhole(text, 1, MAX_TIMER_MS),
  },
  answerCacheBytes: {
    flag: 'answer-cache-bytes',
    variable: 'ANSWER_CACHE_BYTES',
    default: '33554432',
    meaning: 'how many bytes of finished answers are kept to be given again while they stay true; 0 keeps none',
    read: (text) => readWhole(text, 0, MAX_INT32),
  },
  graphiql: {
    flag: 'graphiql',
    variable: 'GRAPHIQL',
    default: 'true',
    meaning: 'whether browsers get GraphiQL: true or false',
    read: readBoolean,
  },
  corsOrigins: {
    flag: 'cors-origins',
    variable: 'CORS_ORIGINS',
    default: '',
    meaning:
      "whose pages may ask beside the gateway's own, over HTTP and websockets: origins separated by commas, or `*` for everyone's",
    read: (text) => (text === '' ? [] : text.split(',').map((origin) => readOrigin(origin.trim()))),
  },
  keepAliveMs: {
    flag: 'keep-alive-ms',
    variable: 'KEEP_ALIVE_MS',
    default: '12000',
    meaning:
      'how often websockets, and event streams with nothing to say, are pinged; a peer that lets the gateway wait is left within two such periods; 50 or more',
    read: readInterval,
  },
  stopWindowMs: {
    flag: 'stop-window-ms',
    variable: 'STOP_WINDOW_MS',
    default: '3000',
    meaning: 'over how long websockets and streams are closed, and requests still taken, when the gateway is stopped',
    read: (text) => readWhole(text, 0, MAX_TIMER_MS),
  },
  stopTimeoutMs: {
    flag: 'stop-timeout-ms',
    variable: 'STOP_TIMEOUT_MS',
    default: '3000',
    meaning: 'how long requests under way may take to end after that',
    read: (text) => readWhole(text, 0, MAX_TIMER_MS),
  },
  maxDepth: limit('maxDepth', 'how deeply selections may be nested'),
  maxComplexity: limit('maxComplexity', 'about how many objects an answer may hold'),
  maxValues: limit('maxValues', 'about how many values an answer may hold, by the lengths that lists have now'),
  maxSchemaObjects: limit('maxSchemaObjects', 'about how many objects of the schema an introspection may give'),
  maxSiblings: limit('maxSiblings', 'how many fields may stand side by side'),
  maxNesting: limit('maxNesting', 'how deeply selections and fragments may be nested, in introspection too'),
  maxTokens: limit('maxTokens', 'how many lexical tokens a document may have'),
  maxPageSize: limit('maxPageSize', 'how many entries a page may have'),
  maxBodyBytes: limit('maxBodyBytes', 'how many bytes the body of a request, or a websocket message, may have'),
  maxHeightsPerOperation: limit('maxHeightsPerOperation', 'how many heights beside its own one operation may read'),
  maxResumedHeights: limit(
    'maxResumedHeights',
    'how many of the newest heights are kept for price subscriptions that go on after a height',
  ),
  maxOperationsPerRequest: limit(
    'maxOperationsPerRequest',
    'how many operations one HTTP request may bring, as an array',
  ),
  maxSubscriptionsPerConnection: limit(
    'maxSubscriptionsPerConnection',
    'how many operations may be open at once on one websocket',
  ),
  maxValuesPerConnection: limit(
    'maxValuesPerConnection',
    'about how many values the operations open at once on one websocket may hold together',
  ),
  rateLimitPerSecond: {
    flag: 'rate-limit-per-second',
    variable: 'RATE_LIMIT_PER_SECOND',
    default: '',
    meaning: 'how many points of complexity an address gets back each second; without it nothing is limited by rate',
    read: readOptionalLimit,
  },
  rateLimitBurst: {
    flag: 'rate-limit-burst',
    variable: 'RATE_LIMIT_BURST',
    default: '',
    meaning: 'how many points an address may use at once; without it, those of ten seconds',
    read: readOptionalLimit,
  },
  maxConnectionsPerAddress: {
    flag: 'max-connections-per-address',
    variable: 'MAX_CONNECTIONS_PER_ADDRESS',
    default: '',
    meaning: 'how many connections an address may have open, websockets among them; without it, any number',
    read: readOptionalLimit,
  },
  trustedProxies: {
    flag: 'trusted-proxies',
    variable: 'TRUSTED_PROXIES',
    default: '',
    meaning:
      'proxies that are believed what they say of their clients in `X-Forwarded-For`: addresses or ranges separated by commas, or `loopback`, `linklocal`, `uniquelocal`',
    read: (text) => (text === '' ? [] : text.split(',').map((proxy) => readProxy(proxy.trim()))),
  },
  logLevel: {
    flag: 'log-level',
    variable: 'LOG_LEVEL',
    default: 'info',
    meaning: `how much the log tells: ${LOG_LEVELS.join(', ')}`,
    read: readLogLevel,
  },
  sandboxBlockMs: {
    flag: 'sandbox-block-ms',
    variable: 'SANDBOX_BLOCK_MS',
    default: '4000',
    meaning: 'how often the sandbox makes a block; its own clock moves 40 s each time',
    read: (text) => readWhole(text, 1, MAX_TIMER_MS),
  },
};

/** A limit is named alike as a flag, a variable and a field of `service.limits`. */
function limit(name: keyof Limits, meaning: string): Setting<number> {
  const words = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
  return {
    flag: words.join('-'),
    variable: words.join('_').toUpperCase(),
    default: String(DEFAULT_LIMITS[name]),
    meaning,
    read: (text) => readWhole(text, 1, MAX_INT32),
  };
}
