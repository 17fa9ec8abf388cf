/** One of the two sources that the gateway reads. */
export type Upstream = 'NODE' | 'MARKET_DATA';

const UPSTREAM_NAMES: Record<Upstream, string> = { NODE: 'The node', MARKET_DATA: 'The market-data host' };

/** Every `extensions.code` that a client can get. A code never changes its meaning. */
export const ERROR_CODES = {
  BAD_USER_INPUT: { cause: 'An argument or a request is invalid.', remedy: 'Correct it.' },
  AMBIGUOUS_TICKER: {
    cause: 'A ticker id names several pools.',
    remedy: 'Choose one of `extensions.poolIds` and send it as `poolId`.',
  },
  HEIGHT_NOT_AVAILABLE: {
    cause: 'A height is in the future, or the node has pruned it.',
    remedy: '`extensions.beaconHeight` is the newest known height.',
  },
  UPSTREAM_NOT_CONFIGURED: { cause: 'The gateway has no address for this upstream.', remedy: 'Do not retry.' },
  UPSTREAM_UNREACHABLE: {
    cause: 'The gateway could not connect, or the connection broke before the response was complete.',
    retryable: true,
  },
  UPSTREAM_TIMEOUT: { cause: 'The response was not complete within `UPSTREAM_TIMEOUT_MS`.', retryable: true },
  UPSTREAM_BAD_STATUS: {
    cause:
      'The upstream responded with an HTTP status other than success. The message names a redirect, and a server that expects HTTPS.',
    retryable: 'depends',
  },
  UPSTREAM_FILTERED: { cause: 'A traffic filter in front of the upstream responded with a page.', retryable: true },
  UPSTREAM_RPC_ERROR: {
    cause: 'The node responded with a JSON-RPC error, or it failed to read a state that it should have.',
    retryable: 'depends',
  },
  UPSTREAM_BAD_SHAPE: {
    cause: "The response does not match the upstream's interface. The message names the place.",
    retryable: true,
  },
  UPSTREAM_BUSY: {
    cause:
      'The gateway does not call the upstream now: the request waited in its queue for too long, or the queue is full and this client has the most queued requests, or the node has responded with too many errors for earlier heights.',
    remedy: 'Retry after a moment, and send fewer requests.',
    retryable: true,
  },
  GRAPHQL_PARSE_FAILED: { cause: 'The document is not GraphQL.', remedy: 'Correct it.' },
  GRAPHQL_VALIDATION_FAILED: { cause: 'The document does not match the schema.', remedy: 'Correct it.' },
  QUERY_TOO_COMPLEX: { cause: 'The operation exceeds a limit. Nothing was executed.', remedy: 'Request less.' },
  RATE_LIMITED: {
    cause: "The client's address has too few points left, or too many connections or open operations.",
    remedy: 'Wait for `extensions.retryAfterMs` if it is there. Otherwise close some.',
    retryable: true,
  },
  ORIGIN_NOT_ALLOWED: {
    cause: 'A browser sent the request for a page of another origin that `CORS_ORIGINS` does not list.',
    remedy: 'Add the origin to `CORS_ORIGINS`.',
  },
  TOO_MANY_ERRORS: {
    cause:
      'A response has more than a hundred errors. This is the last one. It has no `path`, and its message has the number of the others.',
    remedy: 'Correct the first ones.',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    cause: 'The gateway does not have the text for this hash, or no longer has it.',
    remedy: 'Send the text together with the hash once.',
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

/** What a log line needs and a client must never see: addresses, bodies, causes. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * Runs something that makes errors for clients, without their stacks: nobody reads them, and taking one costs ten times as
 * much as the error itself. What it runs must not wait for anything.
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
 * An error that a client is told about: its message and its `extensions` are safe to send, its `details` are not. It has no
 * stack, see {@link withoutStacks}: its code says what happened, and its cause has a stack of its own.
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

  /** What the client gets beside the code. */
  get extensions(): Readonly<Record<string, unknown>> {
    return {};
  }
}

/** An argument that cannot mean anything. */
export class BadUserInputError extends GatewayError {
  readonly code = 'BAD_USER_INPUT';
}

/** The operation asks for more than the limits of this gateway allow. */
export class QueryTooComplexError extends GatewayError {
  readonly code = 'QUERY_TOO_COMPLEX';
}

/** Stands at the end of the errors of an answer in which more went wrong than is reported. */
export class TooManyErrorsError extends GatewayError {
  readonly code = 'TOO_MANY_ERRORS';

  constructor(more: number) {
    super(more === 1 ? '1 more error is not reported.' : `${more} more errors are not reported.`);
  }
}

/** A ticker id that names several pools. */
export class AmbiguousTickerError extends GatewayError {
  readonly code = 'AMBIGUOUS_TICKER';
  readonly poolIds: readonly string[];

  constructor(tickerId: string, poolIds: readonly string[]) {
    super(`${poolIds.length} pools have the ticker id ${JSON.stringify(tickerId)}. Set poolId to select one.`);
    this.poolIds = poolIds;
  }

  override get extensions() {
    return { poolIds: this.poolIds };
  }
}

/** A height in the future, or one that the node has pruned. */
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

/** Something went wrong at an upstream; which one is all that a client learns of it beside the code. */
export abstract class UpstreamError extends GatewayError {
  abstract override readonly code: UpstreamErrorCode;
  readonly upstream: Upstream;
  /** How long the upstream said that it wants to be left alone. */
  readonly retryAfterMs: number | undefined = undefined;

  constructor(upstream: Upstream, what: string, details?: ErrorDetails, cause?: unknown) {
    super(`${UPSTREAM_NAMES[upstream]} ${what}.`, details, cause);
    this.upstream = upstream;
  }

  override get extensions() {
    return { upstream: this.upstream };
  }
}

/** No address was given for this upstream. */
export class UpstreamNotConfiguredError extends UpstreamError {
  readonly code = 'UPSTREAM_NOT_CONFIGURED';

  constructor(upstream: Upstream) {
    super(upstream, 'is not configured');
  }
}

/** No connection, or it broke before the answer was whole. */
export class UpstreamUnreachableError extends UpstreamError {
  readonly code = 'UPSTREAM_UNREACHABLE';

  constructor(upstream: Upstream, details: ErrorDetails, cause: unknown) {
    super(upstream, 'cannot be reached', details, cause);
  }
}

/** The answer was not whole when its time was over. */
export class UpstreamTimeoutError extends UpstreamError {
  readonly code = 'UPSTREAM_TIMEOUT';

  constructor(upstream: Upstream, timeoutMs: number, details: ErrorDetails) {
    super(upstream, `did not respond within ${timeoutMs} ms`, details);
  }
}

/** An HTTP status that is no success. */
export class UpstreamBadStatusError extends UpstreamError {
  readonly code = 'UPSTREAM_BAD_STATUS';
  override readonly retryAfterMs: number | undefined;
  readonly status: number;
  /** What came with the status; never for a client. */
  readonly body: string;

  /** @param more `meaning` goes on after the status, safe to send as the whole message is */
  constructor(
    upstream: Upstream,
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

/** A page meant for a person: the traffic filter in front of the upstream stepped in. */
export class UpstreamFilteredError extends UpstreamError {
  readonly code = 'UPSTREAM_FILTERED';
  override readonly retryAfterMs: number | undefined;
  readonly status: number;

  constructor(upstream: Upstream, status: number, details: ErrorDetails, retryAfterMs?: number) {
    super(upstream, `is blocked by a traffic filter, which responded with HTTP status ${status}`, details);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Codes of errors that the node gives where it could not read the beacon state or the exchange state. */
const RETRYABLE_RPC_CODES: ReadonlySet<number | undefined> = new Set([-3000, -8000]);

/** The node responded with an error of its own. */
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

/** The answer is not what the interface specification says: not JSON, or a misfit at some path. */
export class UpstreamBadShapeError extends UpstreamError {
  readonly code = 'UPSTREAM_BAD_SHAPE';

  constructor(upstream: Upstream, misfit: string, details: ErrorDetails = {}, cause?: unknown) {
    super(upstream, `sent an invalid response: ${misfit}`, details, cause);
  }
}

/**
 * The gateway does not call the upstream now: too many requests wait for it already, or it has answered with so many errors
 * that it could stop answering the gateway.
 */
export class UpstreamBusyError extends UpstreamError {
  readonly code = 'UPSTREAM_BUSY';

  constructor(upstream: Upstream, because = 'has too many queued requests') {
    super(upstream, because);
  }
}
