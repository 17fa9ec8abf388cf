import type { RateLimit } from '../domain/token-bucket.ts';
import { QueryTooComplexError } from '../errors.ts';

/** Number of objects that a list without a page size counts as, at most and if its length is unknown. */
export const ASSUMED_LIST_SIZE = 100;

/** What a scalar value counts as: most objects have about twenty. */
export const VALUE = 1 / 20;

/** Number of objects that `tokens`, and `prices` of all pools or of the native coin, count as at most. */
export const MAX_LONG_LIST_SIZE = 1_000;

/** Reading this much of any document takes no longer than the smallest request. */
export const CHARACTERS_PER_POINT = 50;

/** The description of a limit. */
export type LimitMeaning = {
  /** Text for `--help`, the documents and `service.limits`. */
  readonly meaning: string;
  /** Additional text for `service.limits`. */
  readonly details?: string;
};

/** The limits of one request or connection, the same on every transport. Normal use does not reach the defaults. */
export const LIMITS = {
  maxDepth: { default: 15, meaning: 'Maximum nesting depth of selections. Introspection is exempt.' },
  maxComplexity: {
    default: 20_000,
    meaning: `Maximum complexity of an operation: roughly the number of objects in the response, where a scalar value counts as 1/${1 / VALUE}.`,
    details: `A list counts as its page size, or as its current length, at most ${ASSUMED_LIST_SIZE}. For \`tokens\`, and for \`prices\` of all pools or of the native coin, the maximum is ${MAX_LONG_LIST_SIZE.toLocaleString('en-US')}. Earlier heights, order books, quotes and the history count more. The header \`x-pdex-cost: 1\` shows the cost of an operation. For introspection, \`maxSchemaObjects\` applies instead.`,
  },
  maxValues: {
    // Ten thousand pools with every field: about 15 MB.
    default: 300_000,
    meaning: 'Maximum number of values in a response, estimated from the current lengths of the lists.',
  },
  maxSchemaObjects: {
    // About three times the introspection of GraphiQL.
    default: 30_000,
    meaning: 'Maximum number of schema objects that an introspection may return, estimated from the query.',
  },
  maxSiblings: {
    default: 1_000,
    meaning: 'Maximum number of fields in one selection set, including those of its fragments.',
  },
  maxNesting: {
    default: 200,
    meaning: 'Maximum nesting depth of selections and fragments. Introspection is not exempt.',
  },
  maxTokens: { default: 10_000, meaning: 'Maximum number of lexical tokens in a document.' },
  maxPageSize: { default: 500, meaning: 'Maximum number of entries per page. A larger page is BAD_USER_INPUT.' },
  maxCandles: {
    default: 1_000,
    meaning: 'Maximum number of candles of a pool in one field. A larger `last` is BAD_USER_INPUT.',
  },
  maxHistoryHours: {
    // A leap year.
    default: 8_784,
    meaning:
      'Maximum length of the window of `change`, `sparkline` and `volume`, in hours. A longer one is BAD_USER_INPUT.',
  },
  maxBodyBytes: {
    default: 256 * 1024,
    meaning: 'Maximum size of a request body or of a websocket message, in bytes.',
  },
  maxHeightsPerOperation: {
    default: 64,
    meaning: 'Maximum number of beacon heights that one operation may read in addition to the current one.',
  },
  maxResumedHeights: {
    default: 32,
    meaning:
      'Maximum number of past heights that a subscription to `prices` or `trades` receives when it resumes with `afterHeight`. Older heights are skipped.',
  },
  maxOperationsPerRequest: {
    default: 1,
    meaning:
      'Maximum number of operations in one HTTP request, sent as an array. A longer array is BAD_USER_INPUT. If it is 1, so is any array.',
  },
  maxSubscriptionsPerConnection: {
    default: 100,
    meaning: 'Maximum number of concurrent operations per websocket. One more is RATE_LIMITED.',
  },
  maxValuesPerConnection: {
    default: 1_000_000,
    meaning:
      'Maximum total number of values in the concurrent operations of one websocket, estimated as for `maxValues`. If the message of an operation has more values than its result, those count. An operation that exceeds it is RATE_LIMITED.',
  },
} satisfies Readonly<Record<string, LimitMeaning & { readonly default: number }>>;

/** The limits of one client address. None is set by default. */
export const ADDRESS_LIMITS = {
  rateLimitPerSecond: {
    meaning: 'Points that each client address regains per second (token bucket).',
    details: `An operation costs its complexity, and at least one point per ${CHARACTERS_PER_POINT} characters of its document. Without enough points, the operation is RATE_LIMITED, and \`extensions.retryAfterMs\` is the wait in milliseconds. Null if the gateway has no rate limit.`,
  },
  rateLimitBurst: {
    meaning: 'Maximum number of points that a client address can save up.',
    details:
      'An operation that costs more runs once the address has all of its points. Null if the gateway has no rate limit.',
  },
  maxConnectionsPerAddress: {
    meaning: 'Maximum number of open connections per client address, including websockets. One more is RATE_LIMITED.',
    details: 'Null if the gateway has no such limit.',
  },
} satisfies Readonly<Record<string, LimitMeaning>>;

/** The values of {@link LIMITS}. */
export type Limits = { readonly [Name in keyof typeof LIMITS]: number };

/** The values of {@link ADDRESS_LIMITS}; `undefined` for a limit that is not set. */
export type AddressLimits = {
  /** In integers. */
  readonly rate: RateLimit | undefined;
  readonly maxConnectionsPerAddress: number | undefined;
};

/** An object with a value for each limit, in the order of {@link LIMITS}. */
export function mapLimits<Value>(read: (name: keyof Limits) => Value): { readonly [Name in keyof Limits]: Value } {
  const names = Object.keys(LIMITS) as (keyof Limits)[];
  return Object.fromEntries(names.map((name) => [name, read(name)])) as { [Name in keyof Limits]: Value };
}

/** @throws QueryTooComplexError if a number is above a limit, or is not a number */
export function requireAtMost(limit: number, actual: number, what: string): void {
  // `actual > limit` would accept NaN.
  if (!(actual <= limit)) {
    const amount = Number.isFinite(actual) ? Math.ceil(actual) : 'infinite';
    throw new QueryTooComplexError(`${what} is ${amount}. The maximum is ${limit}.`);
  }
}
