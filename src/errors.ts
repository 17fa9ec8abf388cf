/** One of the two upstreams whose data and errors clients get. */
export type Upstream = 'NODE' | 'MARKET_DATA';

/** Any upstream. The errors of the token service are only logged. */
export type AnyUpstream = Upstream | 'TOKENS';

const UPSTREAM_NAMES: Record<AnyUpstream, string> = {
  NODE: 'The node',
  MARKET_DATA: 'The market-data host',
  TOKENS: 'The token service',
};

/** Maximum number of errors in a response. Creating one takes as long as writing hundreds of values. */
export const MAX_ERRORS = 100;

/** Every `extensions.code` that a client can get. A code never changes its meaning. */
export const ERROR_CODES = {
  BAD_USER_INPUT: { cause: 'An argument or a request is invalid.', remedy: 'Correct it.' },
  NOT_FOUND: { cause: 'REST API: the path or the ticker does not exist.', remedy: 'Correct it.' },
  METHOD_NOT_ALLOWED: {
    cause: 'REST API: the method is not one of those in the header `Allow`.',
    remedy: 'Send a GET.',
  },
  AMBIGUOUS_TICKER: {
    cause: 'A ticker id names several pools.',
    remedy: 'Choose one of `extensions.poolIds` and send it as `poolId`.',
  },
  TRADE_REFUSED: {
    cause: 'A quote for a `route` that the exchange would refuse. `extensions.reason` is the reason.',
    remedy:
      'The description of `quote` explains the reasons. Change the amount or the route, or leave out `route` to get the best one.',
  },
  HEIGHT_NOT_AVAILABLE: {
    cause:
      'A height is in the future, or the node has pruned it, or the gateway has not reached the minimum height of the request.',
    remedy:
      '`extensions.beaconHeight` is the newest known height. If `extensions.retryAfterMs` is there, retry after that time.',
  },
  UPSTREAM_NOT_CONFIGURED: { cause: 'The gateway has no address for this upstream.', remedy: 'Do not retry.' },
  UPSTREAM_UNREACHABLE: {
    cause:
      'The gateway could not connect, or the connection broke before the response was complete. The message names a proxy that refuses or is down.',
    retryable: true,
  },
  UPSTREAM_TIMEOUT: { cause: 'The response was not complete within `UPSTREAM_TIMEOUT_MS`.', retryable: true },
  UPSTREAM_BAD_STATUS: {
    cause:
      'The upstream responded with an HTTP status other than success. The message names a redirect, and a server that expects HTTPS.',
    retryable: 'depends',
  },
  UPSTREAM_FILTERED: {
    cause:
      'A traffic filter in front of the upstream responded with a page, or the configured URL is that of a website.',
    retryable: true,
  },
  UPSTREAM_RPC_ERROR: {
    cause: 'The node responded with a JSON-RPC error, or it failed to read a state that it should have.',
    retryable: 'depends',
  },
  UPSTREAM_BAD_SHAPE: {
    cause:
      "The response does not match the upstream's interface, or the host is not what the gateway expects, such as a node of another chain. The message names it.",
    retryable: 'depends',
  },
  UPSTREAM_BUSY: {
    cause:
      'The gateway does not call the upstream now: the request waited in its queue for too long, or the queue is full and this client has the most queued requests, or the node has responded with too many errors for earlier heights.',
    remedy: 'Retry after a moment, and send fewer requests.',
    retryable: true,
  },
  HISTORY_UNAVAILABLE: {
    cause:
      'The recorded history cannot be read now, or the gateway records none (`HISTORY_DATABASE=off`). All other fields are not affected.',
    retryable: true,
  },
  GRAPHQL_PARSE_FAILED: { cause: 'The document is not GraphQL.', remedy: 'Correct it.' },
  GRAPHQL_VALIDATION_FAILED: { cause: 'The document does not match the schema.', remedy: 'Correct it.' },
  QUERY_TOO_COMPLEX: { cause: 'The operation exceeds a limit. Nothing was executed.', remedy: 'Request less.' },
  RATE_LIMITED: {
    cause: "The client's address has too few points left, or too many connections or open operations.",
    remedy: 'If `extensions.retryAfterMs` is there, wait that long. Otherwise close connections or operations.',
    retryable: true,
  },
  ORIGIN_NOT_ALLOWED: {
    cause: 'A browser sent the request for a page of another origin that `CORS_ORIGINS` does not list.',
    remedy: 'Add the origin to `CORS_ORIGINS`.',
  },
  TOO_MANY_ERRORS: {
    cause: `A response has more than ${MAX_ERRORS} errors. This is the last one. It has no \`path\`, and its message has the number of the errors that are not reported.`,
    remedy: 'Correct the reported errors.',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    cause: 'The gateway does not have the text for this hash, or no longer has it.',
    remedy: 'Send the text together with the hash once.',
  },
  PERSISTED_QUERY_NOT_IN_LIST: {
    cause:
      'No persisted document has this id: the `documentId`, or with `PERSISTED_ONLY` the `extensions.persistedQuery.sha256Hash`.',
    remedy: 'Add the document to the file of `PERSISTED_DOCUMENTS`, and restart the gateway.',
  },
  PERSISTED_QUERY_ONLY: {
    cause: 'The request has the text of a query, and `PERSISTED_ONLY` allows only persisted documents.',
    remedy: 'Send the id of a persisted document as `documentId`.',
  },
  INTERNAL_SERVER_ERROR: {
    cause: 'The gateway has a defect. Its log has the details.',
    remedy: 'Report it with the `x-request-id` of the response.',
  },
} satisfies Readonly<Record<string, ErrorCodeFacts>>;

type ErrorCodeFacts = {
  readonly cause: string;
  /** What the client can do; if it is left out, retry later. */
  readonly remedy?: string;
  /** Whether the same request can succeed a moment later: no by default; `depends` if it depends on the response. */
  readonly retryable?: true | 'depends';
};

/** A code of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** A code of an error of an upstream. */
export type UpstreamErrorCode = Extract<ErrorCode, `UPSTREAM_${string}`>;

/** Details for the log that clients must never see: addresses, bodies, causes. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * Runs a synchronous function whose errors get no stack traces. Nobody reads the stack of an error for a client, and capturing
 * it takes ten times as long as creating the error.
 */
export function withoutStacks<T>(run: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * An error that is sent to clients. Its message and `extensions` are safe to send, its `details` are only for the log. It has
 * no stack, see {@link withoutStacks}; its cause has one.
 */
export abstract class GatewayError extends Error {
  abstract readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(message: string, details: ErrorDetails = {}, cause?: unknown) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = new.target.name;
    this.details = details;
  }

  /** Whether the same request can succeed a moment later. */
  get retryable(): boolean {
    const { retryable }: ErrorCodeFacts = ERROR_CODES[this.code];
    return retryable === true;
  }

  /** The extensions that the client gets in addition to the code. */
  get extensions(): Readonly<Record<string, unknown>> {
    return {};
  }
}

/** An argument or a request is invalid. */
export class BadUserInputError extends GatewayError {
  readonly code = 'BAD_USER_INPUT';
}

/** A path or a ticker of the REST API does not exist. */
export class NotFoundError extends GatewayError {
  readonly code = 'NOT_FOUND';
}

/** The REST API only reads. */
export class MethodNotAllowedError extends GatewayError {
  readonly code = 'METHOD_NOT_ALLOWED';
}

/** An operation exceeds a limit. */
export class QueryTooComplexError extends GatewayError {
  readonly code = 'QUERY_TOO_COMPLEX';
}

/** The last error of a response with more than {@link MAX_ERRORS} errors. */
export class TooManyErrorsError extends GatewayError {
  readonly code = 'TOO_MANY_ERRORS';

  constructor(more: number) {
    super(more === 1 ? '1 more error is not reported.' : `${more} more errors are not reported.`);
  }
}

/** A ticker id names several pools. */
export class AmbiguousTickerError extends GatewayError {
  readonly code = 'AMBIGUOUS_TICKER';
  readonly poolIds: readonly string[];

  constructor(tickerId: string, poolIds: readonly string[], hint = 'Set poolId to select one.') {
    super(`${poolIds.length} pools have the ticker id ${JSON.stringify(tickerId)}. ${hint}`);
    this.poolIds = poolIds;
  }

  override get extensions() {
    return { poolIds: this.poolIds };
  }
}

/** Why the exchange refuses a trade, for people. */
const REFUSALS = {
  POOL_TWICE: 'a pool is on the route twice',
  NO_SUCH_POOL: 'a pool of the route does not exist at this height',
  ROUTE_DOES_NOT_FIT: 'the pools of the route do not lead from the sold token to the bought one',
  NO_LIQUIDITY: 'a side of a pool is empty',
  REAL_RESERVE_TOO_SMALL: 'a pool does not hold as much as the trade would take from it',
  RESERVE_OUT_OF_RANGE: 'an amount would exceed 2^64 - 1',
  ONE_SIDE_ZERO: 'a step of the trade would give or take nothing, because the amount for it is too small',
} as const;

/** The exchange would refuse a trade along a given route. */
export class TradeRefusedError extends GatewayError {
  readonly code = 'TRADE_REFUSED';
  readonly reason: keyof typeof REFUSALS;

  constructor(reason: keyof typeof REFUSALS) {
    super(`The exchange would refuse this trade: ${REFUSALS[reason]}.`);
    this.reason = reason;
  }

  override get extensions() {
    return { reason: this.reason };
  }
}

/** A height is in the future, or the node has pruned it. */
export class HeightNotAvailableError extends GatewayError {
  readonly code = 'HEIGHT_NOT_AVAILABLE';
  readonly newestHeight: number;

  constructor(height: number, newestHeight: number) {
    super(
      height > newestHeight
        ? `Beacon height ${height} is in the future. The newest height is ${newestHeight}.`
        : `The node no longer has the state at beacon height ${height}.`,
    );
    this.newestHeight = newestHeight;
  }

  override get extensions() {
    return { beaconHeight: this.newestHeight };
  }
}

/** The recorded history cannot be read. The cause is for the log. */
export class HistoryUnavailableError extends GatewayError {
  readonly code = 'HISTORY_UNAVAILABLE';
  /** Whether the gateway records no history, so that a retry cannot succeed. */
  readonly isOff: boolean;

  constructor({ isOff = false, cause }: { readonly isOff?: boolean; readonly cause?: unknown } = {}) {
    super(isOff ? 'This gateway records no history.' : 'The recorded history cannot be read now.', {}, cause);
    this.isOff = isOff;
  }

  override get retryable(): boolean {
    return !this.isOff;
  }
}

/** An error of an upstream. A client gets only the code and the name of the upstream. */
export abstract class UpstreamError extends GatewayError {
  abstract override readonly code: UpstreamErrorCode;
  readonly upstream: AnyUpstream;
  /** The `Retry-After` of the upstream. */
  readonly retryAfterMs: number | undefined = undefined;

  constructor(upstream: AnyUpstream, what: string, details?: ErrorDetails, cause?: unknown) {
    super(`${UPSTREAM_NAMES[upstream]} ${what}.`, details, cause);
    this.upstream = upstream;
  }

  override get extensions() {
    return { upstream: this.upstream };
  }
}

/** The upstream has no address in the settings. */
export class UpstreamNotConfiguredError extends UpstreamError {
  readonly code = 'UPSTREAM_NOT_CONFIGURED';

  constructor(upstream: AnyUpstream) {
    super(upstream, 'is not configured');
  }
}

/** The proxy of a request refuses it, or cannot be reached. Its message has the variable that names the proxy, and no part of its URL. */
export class ProxyError extends Error {
  constructor(variable: string, problem: string, cause?: unknown) {
    super(`the proxy of ${variable} ${problem}`, { cause });
  }
}

/** The connection failed, or it was closed before the response was complete. */
export class UpstreamUnreachableError extends UpstreamError {
  readonly code = 'UPSTREAM_UNREACHABLE';

  constructor(upstream: AnyUpstream, details: ErrorDetails, cause: unknown) {
    if (cause instanceof ProxyError) super(upstream, `cannot be reached: ${cause.message}`, details, cause.cause);
    else super(upstream, 'cannot be reached', details, cause);
  }
}

/** The response was not complete within the timeout. */
export class UpstreamTimeoutError extends UpstreamError {
  readonly code = 'UPSTREAM_TIMEOUT';

  constructor(upstream: AnyUpstream, timeoutMs: number, details: ErrorDetails) {
    super(upstream, `did not respond within ${timeoutMs} ms`, details);
  }
}

/** The upstream responded with an HTTP status other than success. */
export class UpstreamBadStatusError extends UpstreamError {
  readonly code = 'UPSTREAM_BAD_STATUS';
  override readonly retryAfterMs: number | undefined;
  readonly status: number;
  /** The body of the response. It must not be sent to clients. */
  readonly body: string;

  /** @param options `meaning` is appended to the message after the status, and must be safe to send */
  constructor(
    upstream: AnyUpstream,
    status: number,
    body: string,
    details: ErrorDetails,
    { retryAfterMs, meaning = '' }: { retryAfterMs?: number | undefined; meaning?: string } = {},
  ) {
    super(upstream, `responded with HTTP status ${status}${meaning}`, details);
    this.status = status;
    this.body = body;
    this.retryAfterMs = retryAfterMs;
  }

  override get retryable(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** A traffic filter in front of the upstream responded with a page for people. */
export class UpstreamFilteredError extends UpstreamError {
  readonly code = 'UPSTREAM_FILTERED';
  override readonly retryAfterMs: number | undefined;
  readonly status: number;

  constructor(upstream: AnyUpstream, status: number, details: ErrorDetails, retryAfterMs?: number) {
    super(upstream, `is blocked by a traffic filter, which responded with HTTP status ${status}`, details);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** JSON-RPC error codes of a node that could not read the beacon state or the exchange state. */
const RETRYABLE_RPC_CODES: ReadonlySet<number | undefined> = new Set([-3000, -8000]);

/** The node responded with a JSON-RPC error. */
export class UpstreamRpcError extends UpstreamError {
  readonly code = 'UPSTREAM_RPC_ERROR';
  readonly rpcCode: number | undefined;

  constructor(rpcCode: number | undefined, details: ErrorDetails) {
    super('NODE', rpcCode === undefined ? 'responded with an error' : `responded with error ${rpcCode}`, details);
    this.rpcCode = rpcCode;
  }

  override get retryable(): boolean {
    return RETRYABLE_RPC_CODES.has(this.rpcCode);
  }
}

/** The response does not match the interface specification: it is not JSON, or has a wrong value at some path. */
export class UpstreamBadShapeError extends UpstreamError {
  readonly code = 'UPSTREAM_BAD_SHAPE';

  constructor(upstream: AnyUpstream, problem: string, details: ErrorDetails = {}, cause?: unknown) {
    super(upstream, `sent an invalid response: ${problem}`, details, cause);
  }

  override get retryable(): boolean {
    return true;
  }
}

/** The host behind the URL of the node is something else, such as a node of another chain: no retry can succeed. */
export class ForeignNodeError extends UpstreamError {
  readonly code = 'UPSTREAM_BAD_SHAPE';

  constructor(problem: string, details?: ErrorDetails) {
    super('NODE', `does not look like a node of the Incognito chain: ${problem}`, details);
  }
}

/**
 * The gateway does not call the upstream now: its queue is full, a request waited in it for too long, or the upstream
 * responded with so many errors that more of them could make it block the gateway.
 */
export class UpstreamBusyError extends UpstreamError {
  readonly code = 'UPSTREAM_BUSY';

  constructor(upstream: AnyUpstream, reason = 'has too many queued requests') {
    super(upstream, reason);
  }
}
