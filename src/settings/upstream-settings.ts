import { STABLE_COINS } from '../domain/token.ts';
import { COMMAS, declare, HEADERS, INTERVAL, LIST, MILLISECONDS, OPTIONAL_URL, oneOf, URLS, whole } from './kinds.ts';
import { MIN_INTERVAL_MS, readList, readMatching, readTokenId, readWebSocketUrls } from './readers.ts';

/** Connections to each upstream that are reserved for polling, so that clients never delay it. */
export const RESERVED_CONNECTIONS = 2;

/** The upstreams, and how the gateway calls them. */
export const UPSTREAMS = declare({
  fullnodeWsUrl: {
    ...URLS,
    meaning:
      'URL of the websocket on which the full node pushes new blocks, or as many URLs as `FULLNODE_URL` has, in the same order. An empty entry means a node without a websocket. By default, the gateway only polls.',
    read: readWebSocketUrls,
  },
  fullnodeHeaders: {
    ...HEADERS,
    meaning:
      'HTTP headers of every request to a node, also of the request that opens its websocket. The `user-agent` is `pdex-gateway`, unless it is one of them.',
  },
  exchangeVersion: {
    ...oneOf(['auto', 'v1', 'v3']),
    default: 'auto',
    meaning:
      'Which version of the exchange the gateway serves. `auto` means V3 (`pdexv3_getState`) once a node has a state of it, and V1 (`getpdestate`) until then. With `v1` or `v3`, the gateway does not look for the version on the nodes.',
  },
  exchangeProbeMs: {
    ...INTERVAL,
    default: '60000',
    meaning: `How often the gateway looks for V3 of the exchange on the nodes while it serves V1, in milliseconds. Minimum ${MIN_INTERVAL_MS}.`,
  },
  marketDataHeaders: {
    ...HEADERS,
    meaning:
      'HTTP headers of every request to the market-data host. The `user-agent` is `pdex-gateway`, unless it is one of them.',
  },
  tokensUrl: {
    ...OPTIONAL_URL,
    meaning:
      'URL of the token list of a token service, `…/coins/tokenlist`. Its tokens override those of the built-in list.',
  },
  usdTokens: {
    ...LIST,
    meaning:
      'Ids of the tokens that are worth one US dollar by definition. All prices in US dollars follow from their pools. Their decimals must be known. By default, USDT, USDC and DAI of the built-in list.',
    read: (text) => (text === '' ? STABLE_COINS : readList(text, readTokenId)),
  },
  marketDataPartner: {
    default: 'market-data',
    meaning:
      'Path segment that names the partner, unless `MARKET_DATA_URL` contains one. The paths of the REST API always contain it.',
    read: (text) => readMatching(text, /^(?!\.\.?$)[\w.~-]+$/, 'one segment of a path: letters, digits and - . _ ~'),
  },
  upstreamTimeoutMs: {
    ...MILLISECONDS,
    default: '10000',
    meaning: 'Maximum time for a complete response of an upstream, in milliseconds.',
  },
  upstreamMaxConnections: {
    ...whole(RESERVED_CONNECTIONS + 1),
    default: '16',
    meaning: `Maximum number of connections to one upstream host. Minimum ${RESERVED_CONNECTIONS + 1}, because ${RESERVED_CONNECTIONS} are reserved for polling.`,
  },
  upstreamMaxWaiting: {
    ...whole(0),
    default: '1000',
    meaning:
      'Maximum number of client requests queued for an upstream. When the queue is full, the newest request of the client with the most queued requests fails with `UPSTREAM_BUSY`.',
  },
  upstreamMaxPauseMs: {
    ...MILLISECONDS,
    default: '15000',
    meaning: 'Maximum back-off before the gateway tries a failing upstream again, in milliseconds.',
  },
});

const PROXY = {
  isOfNode: true,
  ofText: 'The variable is read only with `NODE_USE_ENV_PROXY=1`.',
} as const;

/** The variables of Node for proxies, with its names and meanings. */
export const PROXIES = declare({
  httpProxy: {
    ...OPTIONAL_URL,
    ...PROXY,
    meaning: 'URL of the proxy of requests to URLs with `http` and `ws`.',
  },
  httpsProxy: {
    ...OPTIONAL_URL,
    ...PROXY,
    meaning: 'URL of the proxy of requests to URLs with `https` and `wss`.',
  },
  noProxy: {
    ...LIST,
    ...PROXY,
    meaning:
      'Hosts that are requested without a proxy: `host`, `host:port`, `.domain`, `*.domain`, an address, a range of addresses `10.0.0.1-10.0.0.9` or `10.0.0.0/8`, or `*` for all.',
    ofText: `${COMMAS} ${PROXY.ofText}`,
    read: (text) => readList(text, (entry) => entry),
  },
});

/** How often the gateway reads, and how old data may become. */
export const FRESHNESS = declare({
  headPollMs: {
    ...INTERVAL,
    default: '1000',
    meaning: `How often the gateway polls the node for a new block, in milliseconds. Minimum ${MIN_INTERVAL_MS}. While a websocket of \`FULLNODE_WS_URL\` announces the new blocks, the interval is at least 10 seconds, and each pushed block starts a poll.`,
  },
  maxBlockAgeMs: {
    ...MILLISECONDS,
    default: '600000',
    meaning:
      'Maximum age of the newest block, by its own timestamp, in milliseconds. If it is older, the head is stale and `/ready` returns 503.',
  },
  marketPollMs: {
    ...INTERVAL,
    default: '10000',
    meaning: `How often the gateway polls pairs and tickers, in milliseconds. Minimum ${MIN_INTERVAL_MS}.`,
  },
  marketMaxAgeMs: {
    ...MILLISECONDS,
    default: '600000',
    meaning:
      'Maximum age of pairs and tickers while the market-data host fails, in milliseconds. After that, their fields fail with the error of the host. In the same way, `/tickers` leaves out the fields of a failing node when its newest block is older.',
  },
  tokensPollMs: {
    ...INTERVAL,
    default: '3600000',
    meaning: `How often the gateway reads \`TOKENS_URL\`, in milliseconds. Minimum ${MIN_INTERVAL_MS}.`,
  },
  orderBookTtlMs: {
    ...INTERVAL,
    default: '1000',
    meaning: `How long the gateway serves the same snapshot of an order book to all clients, in milliseconds. Minimum ${MIN_INTERVAL_MS}.`,
  },
  bookSweepPerMinute: {
    ...whole(0, 6_000),
    default: '55',
    meaning:
      'How many order books the gateway reads in each minute, one after another, for `bid` and `ask` in the tickers of the REST API. If there are more tickers than that, a round takes longer than a minute. The replicas of a fleet read each book once. 0 turns it off.',
  },
});
