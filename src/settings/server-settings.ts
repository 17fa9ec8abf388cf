import { ADDRESS_LIMITS } from '../graphql/limits.ts';
import { LOG_LEVELS } from '../logging/log.ts';
import { ACCESS_LOG_MODES } from '../server/access-log.ts';
import { readPersistedManifest } from './files.ts';
import { MIN_INTERVAL_MS, readList, readProxy, readUrl } from './readers.ts';
import { BOOLEAN, declare, INTERVAL, LIST, OPTIONAL_LIMIT, oneOf, optional, PORT, whole } from './setting.ts';

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
    meaning: 'Whether pairs, tickers and order books are also served as a REST API: true or false.',
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
    read: (text) => text || undefined,
  },
  responseCacheBytes: {
    ...whole(0),
    default: '33554432',
    meaning: 'Maximum size of the response cache, in bytes. 0 turns it off.',
  },
  keepAliveMs: {
    ...INTERVAL,
    default: '12000',
    meaning: `How often the gateway pings websockets and idle event streams, in milliseconds. It disconnects a client that does not respond within two such intervals. Minimum ${MIN_INTERVAL_MS}.`,
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
    meaning: `${ADDRESS_LIMITS.rateLimitPerSecond.meaning} Not limited by default.`,
  },
  rateLimitBurst: {
    ...OPTIONAL_LIMIT,
    meaning: `${ADDRESS_LIMITS.rateLimitBurst.meaning} By default, the points of ${DEFAULT_BURST_SECONDS} seconds.`,
  },
  maxConnectionsPerAddress: {
    ...OPTIONAL_LIMIT,
    meaning: `${ADDRESS_LIMITS.maxConnectionsPerAddress.meaning} Not limited by default.`,
  },
  trustedProxies: {
    ...LIST,
    meaning:
      'Proxies whose `X-Forwarded-For` headers are trusted: addresses or ranges, or `loopback`, `linklocal`, `uniquelocal`.',
    read: (text) => readList(text, readProxy),
  },
});
