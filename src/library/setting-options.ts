// Written by `npm run docs`, from src/settings/settings.ts.

/** The settings as options. Each is checked as on the command line. An option that is `undefined` is not set. */
export type SettingOptions = {
  /** URL of the full node's JSON-RPC API, or several URLs. */
  readonly fullnodeUrl?: string | readonly string[] | undefined;
  /** URL of the market-data host. The gateway appends the path `/api/v1/public/<partner>/…`, or the part of it that the URL lacks. */
  readonly marketDataUrl?: string | undefined;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Port to listen on. With 0, the system chooses a free port, which the log contains. Default: `4000`. */
  readonly port?: number | undefined;
  /** Path of a JSON file `[{"id", "symbol", "decimals"}]`. Its tokens override those of `tokensUrl` and of the built-in list. */
  readonly tokensFile?: string | undefined;
  /** Origins of pages that can send requests and open websockets, besides the gateway's own, or `*` for all. `https://*.app.example` stands for all subdomains. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** URL of the websocket on which the full node pushes new blocks, or as many URLs as `fullnodeUrl` has, in the same order. An empty entry means a node without a websocket. By default, the gateway only polls. */
  readonly fullnodeWsUrl?: string | readonly string[] | undefined;
  /** HTTP headers of every request to a node, also of the request that opens its websocket. */
  readonly fullnodeHeaders?: Readonly<Record<string, string>> | undefined;
  /** HTTP headers of every request to the market-data host. */
  readonly marketDataHeaders?: Readonly<Record<string, string>> | undefined;
  /** URL of the token list of a token service, `…/coins/tokenlist`. Its tokens override those of the built-in list. */
  readonly tokensUrl?: string | undefined;
  /** Ids of the tokens that are worth one US dollar by definition. All prices in US dollars follow from their pools. Their decimals must be known. By default, USDT, USDC and DAI of the built-in list. */
  readonly usdTokens?: readonly string[] | undefined;
  /** Path segment that names the partner, unless `marketDataUrl` contains one. The paths of the REST API always contain it. Default: `market-data`. */
  readonly marketDataPartner?: string | undefined;
  /** Maximum time for a complete response of an upstream, in milliseconds. Default: `10000`. */
  readonly upstreamTimeoutMs?: number | undefined;
  /** Maximum number of connections to one upstream host. Minimum 3, because 2 are reserved for polling. Default: `16`. */
  readonly upstreamMaxConnections?: number | undefined;
  /** Maximum number of client requests queued for an upstream. When the queue is full, the newest request of the client with the most queued requests fails with `UPSTREAM_BUSY`. Default: `1000`. */
  readonly upstreamMaxWaiting?: number | undefined;
  /** Maximum back-off before the gateway tries a failing upstream again, in milliseconds. Default: `15000`. */
  readonly upstreamMaxPauseMs?: number | undefined;
  /** URL of the proxy of requests to URLs with `http` and `ws`. */
  readonly httpProxy?: string | undefined;
  /** URL of the proxy of requests to URLs with `https` and `wss`. */
  readonly httpsProxy?: string | undefined;
  /** Hosts that are requested without a proxy: `host`, `host:port`, `.domain`, `*.domain`, an address, a range of addresses `10.0.0.1-10.0.0.9`, or `*` for all. */
  readonly noProxy?: readonly string[] | undefined;
  /** How often the gateway polls the node for a new block, in milliseconds. Minimum 50. While a websocket of `fullnodeWsUrl` is open, the interval is at least 10 seconds, and each pushed block is polled at once. Default: `1000`. */
  readonly headPollMs?: number | undefined;
  /** Maximum age of the newest block, by its own timestamp, in milliseconds. If it is older, the head is stale and `/ready` returns 503. Default: `600000`. */
  readonly maxBlockAgeMs?: number | undefined;
  /** How often the gateway polls pairs and tickers, in milliseconds. Minimum 50. Default: `10000`. */
  readonly marketPollMs?: number | undefined;
  /** Maximum age of pairs and tickers while the market-data host fails, in milliseconds. After that, their fields fail with the error of the host. Default: `600000`. */
  readonly marketMaxAgeMs?: number | undefined;
  /** How often the gateway reads `tokensUrl`, in milliseconds. Minimum 50. Default: `3600000`. */
  readonly tokensPollMs?: number | undefined;
  /** How long the gateway serves the same snapshot of an order book to all clients, in milliseconds. Minimum 50. Default: `1000`. */
  readonly orderBookTtlMs?: number | undefined;
  /** How many order books the gateway reads in each minute, one after another, for `bid` and `ask` in the tickers of the REST API. If there are more tickers than that, a round takes longer than a minute. The replicas of a fleet read each book once. 0 turns it off. Default: `55`. */
  readonly bookSweepPerMinute?: number | undefined;
  /** Whether browsers get the explorer at `/`: true or false. Default: `false`. */
  readonly explorer?: boolean | undefined;
  /** URL at which browsers open the explorer, such as `https://dex.example`. Previews of its links, for example in a chat, need it to find their picture. */
  readonly publicUrl?: string | undefined;
  /** Whether browsers get GraphiQL: true or false. Default: `true`. */
  readonly graphiql?: boolean | undefined;
  /** Whether pairs, tickers and order books are also served as a REST API: true or false. Default: `true`. */
  readonly rest?: boolean | undefined;
  /** Path of a manifest of persisted documents, as `relay-compiler` or `generate-persisted-query-manifest` of Apollo write it. */
  readonly persistedDocuments?: string | undefined;
  /** Whether only persisted documents are executed: true or false. If true, every other operation fails with `PERSISTED_QUERY_ONLY`, and browsers get neither GraphiQL nor the explorer. Default: `false`. */
  readonly persistedOnly?: boolean | undefined;
  /** Port for `/health`, `/ready` and `/metrics`, which are then no longer on `port`. With 0, the system chooses a free port, which the log contains. By default, there is no such port. */
  readonly adminPort?: number | undefined;
  /** Address to listen on for `adminPort`. By default, the same as for `port`. */
  readonly adminHost?: string | undefined;
  /** Maximum size of the response cache, in bytes. 0 turns it off. Default: `33554432`. */
  readonly responseCacheBytes?: number | undefined;
  /** How often the gateway pings websockets and idle event streams, in milliseconds. It disconnects a client that does not respond within two such intervals. Minimum 50. Default: `12000`. */
  readonly keepAliveMs?: number | undefined;
  /** After a stop signal: how long the gateway still accepts requests while it closes websockets and streams one after another, in milliseconds. Default: `3000`. */
  readonly stopWindowMs?: number | undefined;
  /** After `stopWindowMs`: maximum time for pending requests to finish, in milliseconds. Default: `3000`. */
  readonly stopTimeoutMs?: number | undefined;
  /** Least severe level that is logged: trace, debug, info, warn, error, fatal, silent. Default: `info`. */
  readonly logLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent' | undefined;
  /** Which requests and operations are logged: off, errors, all. `errors` means refused operations and internal errors. Default: `errors`. */
  readonly accessLog?: 'off' | 'errors' | 'all' | undefined;
  /** Maximum nesting depth of selections. Introspection is exempt. Default: `15`. */
  readonly maxDepth?: number | undefined;
  /** Maximum complexity of an operation: roughly the number of objects in the response, where a scalar value counts as 1/20. Default: `20000`. */
  readonly maxComplexity?: number | undefined;
  /** Maximum number of values in a response, estimated from the current lengths of the lists. Default: `300000`. */
  readonly maxValues?: number | undefined;
  /** Maximum number of schema objects that an introspection may return, estimated from the query. Default: `30000`. */
  readonly maxSchemaObjects?: number | undefined;
  /** Maximum number of fields in one selection set, including those of its fragments. Default: `1000`. */
  readonly maxSiblings?: number | undefined;
  /** Maximum nesting depth of selections and fragments. Introspection is not exempt. Default: `200`. */
  readonly maxNesting?: number | undefined;
  /** Maximum number of lexical tokens in a document. Default: `10000`. */
  readonly maxTokens?: number | undefined;
  /** Maximum number of entries per page. A larger page is BAD_USER_INPUT. Default: `500`. */
  readonly maxPageSize?: number | undefined;
  /** Maximum number of candles of a pool in one field. A larger `last` is BAD_USER_INPUT. Default: `1000`. */
  readonly maxCandles?: number | undefined;
  /** Maximum length of the window of `change` and `sparkline`, in hours. A longer one is BAD_USER_INPUT. Default: `8784`. */
  readonly maxHistoryHours?: number | undefined;
  /** Maximum size of a request body or of a websocket message, in bytes. Default: `262144`. */
  readonly maxBodyBytes?: number | undefined;
  /** Maximum number of beacon heights that one operation may read in addition to the current one. Default: `64`. */
  readonly maxHeightsPerOperation?: number | undefined;
  /** Maximum number of past heights that a subscription to `prices(afterHeight:)` receives when it resumes. Older heights are skipped. Default: `32`. */
  readonly maxResumedHeights?: number | undefined;
  /** Maximum number of operations in one HTTP request, sent as an array. If it is 1, an array is BAD_USER_INPUT. Default: `1`. */
  readonly maxOperationsPerRequest?: number | undefined;
  /** Maximum number of concurrent operations per websocket. One more is RATE_LIMITED. Default: `100`. */
  readonly maxSubscriptionsPerConnection?: number | undefined;
  /** Maximum total number of values in the concurrent operations of one websocket, estimated as for `maxValues`. An operation that exceeds it is RATE_LIMITED. Default: `1000000`. */
  readonly maxValuesPerConnection?: number | undefined;
  /** Points that each client address regains per second (token bucket). Not limited by default. */
  readonly rateLimitPerSecond?: number | undefined;
  /** Maximum number of points that a client address can save up. By default, the points of 10 seconds. */
  readonly rateLimitBurst?: number | undefined;
  /** Maximum number of open connections per client address, including websockets. One more is RATE_LIMITED. Not limited by default. */
  readonly maxConnectionsPerAddress?: number | undefined;
  /** Proxies whose `X-Forwarded-For` headers are trusted: addresses or ranges, or `loopback`, `linklocal`, `uniquelocal`. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** URL of an OpenTelemetry receiver. If it is set, the gateway sends traces to `<URL>/v1/traces`, or with grpc to the host of the URL. */
  readonly otelExporterOtlpEndpoint?: string | undefined;
  /** HTTP headers of every request to the receiver. Written as `name=value` pairs, percent-encoded and separated by commas. */
  readonly otelExporterOtlpHeaders?: string | undefined;
  /** How traces are sent: http/protobuf, http/json, grpc. Receivers usually have another port for grpc, 4317. Default: `http/protobuf`. */
  readonly otelExporterOtlpProtocol?: 'http/protobuf' | 'http/json' | 'grpc' | undefined;
  /** Name of the gateway in traces. By default, service.name in `otelResourceAttributes`, or else `pdex-gateway`. */
  readonly otelServiceName?: string | undefined;
  /** Further attributes of the gateway in traces. Written as `name=value` pairs, percent-encoded and separated by commas. */
  readonly otelResourceAttributes?: string | undefined;
  /** Which traces are recorded: always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio. With `parentbased_`, a client that sends a trace context decides. Default: `parentbased_always_on`. */
  readonly otelTracesSampler?:
    | 'always_on'
    | 'always_off'
    | 'traceidratio'
    | 'parentbased_always_on'
    | 'parentbased_always_off'
    | 'parentbased_traceidratio'
    | undefined;
  /** Share of traces that the samplers with `traceidratio` record, from 0 to 1. Default: `1`. */
  readonly otelTracesSamplerArg?: number | undefined;
  /** Whether traces are off even if a receiver is set: true or false. Default: `false`. */
  readonly otelSdkDisabled?: boolean | undefined;
  /** Where the history of the exchange is recorded: the path of a SQLite file, a `postgres://` URL, `memory`, or `off`. By default `memory` with the built-in sandbox, otherwise `pdex-history.sqlite` in the working directory. */
  readonly historyDatabase?: string | undefined;
  /** How long each change of a pool is stored, in days by the times of blocks. Candles of up to 15 minutes are stored for at least 90 days, and longer candles forever. Default: `7`. */
  readonly historyRawDays?: number | undefined;
  /** How far back the gateway reads missing heights from the node, in hours before the newest block. 0 turns this off. By default 24, and 168 with the built-in sandbox. */
  readonly historyBackfillHours?: number | undefined;
  /** Step between the missing heights that the gateway reads from the node: with 12, it reads every twelfth height. It fills shorter gaps completely. By default 12; of the newest day of the built-in sandbox, it reads every height. */
  readonly historyBackfillStep?: number | undefined;
  /** URL of the Redis that the gateways of a fleet share: `redis://`, or `rediss://` over TLS. Several URLs are nodes of a cluster. For a cluster with one endpoint, the scheme is `redis+cluster://`. For Sentinels, the URL is `redis+sentinel://host:26379/<name of the primary>`. By default, the gateway works alone. */
  readonly redisUrl?: string | readonly string[] | undefined;
  /** Prefix of all keys in Redis. Gateways with the same `redisUrl` and the same prefix are one fleet, and must follow the same chain. Default: `pdex`. */
  readonly redisPrefix?: string | undefined;
  /** Whether to serve simulated data of the built-in sandbox: true or false. By default, true if no upstream is configured. */
  readonly sandbox?: boolean | undefined;
  /** Block interval of the sandbox, in milliseconds. Default: `4000`. */
  readonly sandboxBlockMs?: number | undefined;
};
