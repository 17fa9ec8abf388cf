import { type ErrorCode, isRetryable, type UpstreamErrorCode } from './domain/error-codes.ts';

/** One of the two upstreams whose data and errors clients get. */
export type Upstream = 'NODE' | 'MARKET_DATA';

/** Any upstream. The errors of the token service are only logged. */
export type AnyUpstream = Upstream | 'TOKENS';

const UPSTREAM_NAMES: Record<AnyUpstream, string> = {
  NODE: 'The node',
  MARKET_DATA: 'The market-data host',
  TOKENS: 'The token service',
};

/** Maximum number of errors in a response, without the one that counts the rest. Creating one costs as much as hundreds of values. */
export const MAX_ERRORS = 100;

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

/** What a function returns, or the error that it throws if that is of this class. Any other error is thrown. */
export function orError<T, E>(type: new (...args: never[]) => E, run: () => T): T | E {
  try {
    return run();
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
}

type ErrorOptions = {
  readonly details?: ErrorDetails | undefined;
  readonly cause?: unknown;
  /** The extensions that the client gets in addition to the code. */
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Whether the same request can succeed a moment later. By default, the code says so. */
  readonly retryable?: boolean;
};

/**
 * An error that is sent to clients. Its message and `extensions` are safe to send, its `details` are only for the log. It has
 * no stack, see {@link withoutStacks}; its cause has one.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = new.target.name;
    this.code = code;
    this.details = options.details ?? {};
    this.extensions = options.extensions ?? {};
    this.retryable = options.retryable ?? isRetryable(code);
  }
}

/** Whether two errors have the same reason: an upstream that fails repeats its error at each read. */
export function haveSameReason(a: unknown, b: unknown): boolean {
  return a instanceof Error && b instanceof Error && a.message === b.message;
}

/** An argument or a request is invalid. */
export class BadUserInputError extends GatewayError {
  constructor(message: string) {
    super('BAD_USER_INPUT', message);
  }
}

/** An operation exceeds a limit. */
export class QueryTooComplexError extends GatewayError {
  constructor(message: string) {
    super('QUERY_TOO_COMPLEX', message);
  }
}

/** An operation can have many of these errors, and anybody can create pools. */
const MAX_LISTED_POOLS = 20;

/** A ticker id names several pools. The error lists the first ones. */
export class AmbiguousTickerError extends GatewayError {
  constructor(tickerId: string, poolIds: readonly string[], hint = 'Set poolId to select one.') {
    const message = `${poolIds.length} pools have the ticker id ${JSON.stringify(tickerId)}. ${hint}`;
    super('AMBIGUOUS_TICKER', message, { extensions: { poolIds: poolIds.slice(0, MAX_LISTED_POOLS) } });
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
  constructor(reason: keyof typeof REFUSALS) {
    super('TRADE_REFUSED', `The exchange would refuse this trade: ${REFUSALS[reason]}.`, { extensions: { reason } });
  }
}

/** A height is in the future, or the node has pruned it, or what a client requests of it is not recorded. */
export class HeightNotAvailableError extends GatewayError {
  /** @param whyNot the message for a height that is not in the future; by default, that the node has pruned its state */
  constructor(
    height: number,
    newestHeight: number,
    whyNot = `The node no longer has the state at beacon height ${height}.`,
  ) {
    const message =
      height > newestHeight
        ? `Beacon height ${height} is in the future. The newest height is ${newestHeight}.`
        : whyNot;
    super('HEIGHT_NOT_AVAILABLE', message, { extensions: { beaconHeight: newestHeight } });
  }
}

/** The message for a client whose read found the queue full, or waited in it for too long. */
const HISTORY_BUSY = 'Too many reads of the recorded history are waiting. Request less of it at once, or retry later.';

/** The recorded history cannot be read, or the gateway records none: then no retry can succeed. The cause is for the log. */
export class HistoryUnavailableError extends GatewayError {
  /** @param options whether the gateway records no history, or a read was refused because others wait */
  constructor(options: { readonly isOff?: boolean; readonly isBusy?: boolean; readonly cause?: unknown } = {}) {
    const { isOff = false, isBusy = false, cause } = options;
    const readable = isBusy ? HISTORY_BUSY : 'The recorded history cannot be read now.';
    super('HISTORY_UNAVAILABLE', isOff ? 'This gateway records no history.' : readable, { cause, retryable: !isOff });
  }
}

/** Whether an error can be due to the place of one client in a queue. The same request of another client may succeed. */
export function isOfClient({ code, message }: { readonly code?: unknown; readonly message: string }): boolean {
  return code === 'UPSTREAM_BUSY' || message === HISTORY_BUSY;
}

/** Longer values of `Retry-After` are cut: a mistyped header must not end the service for a day. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000;

type UpstreamErrorOptions = Omit<ErrorOptions, 'extensions'> & { readonly retryAfterMs?: number | undefined };

/** An error of an upstream. A client gets only the code and the name of the upstream. */
export abstract class UpstreamError extends GatewayError {
  declare readonly code: UpstreamErrorCode;
  readonly upstream: AnyUpstream;
  /** The `Retry-After` of the upstream. */
  readonly retryAfterMs: number | undefined;

  constructor(code: UpstreamErrorCode, upstream: AnyUpstream, what: string, options: UpstreamErrorOptions = {}) {
    super(code, `${UPSTREAM_NAMES[upstream]} ${what}.`, { ...options, extensions: { upstream } });
    this.upstream = upstream;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The upstream has no address in the settings. */
export class UpstreamNotConfiguredError extends UpstreamError {
  constructor(upstream: AnyUpstream) {
    super('UPSTREAM_NOT_CONFIGURED', upstream, 'is not configured');
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
  readonly #error: unknown;

  constructor(upstream: AnyUpstream, details: ErrorDetails, error: unknown) {
    const [reason, cause] = error instanceof ProxyError ? [`: ${error.message}`, error.cause] : ['', error];
    super('UPSTREAM_UNREACHABLE', upstream, `cannot be reached${reason}`, { details, cause });
    this.#error = error;
  }

  /** The same error with a hint for the operator in its details. */
  withHint(hint: string): UpstreamUnreachableError {
    return new UpstreamUnreachableError(this.upstream, { ...this.details, hint }, this.#error);
  }
}

/** The response was not complete within the timeout. */
export class UpstreamTimeoutError extends UpstreamError {
  constructor(upstream: AnyUpstream, timeoutMs: number, details: ErrorDetails) {
    super('UPSTREAM_TIMEOUT', upstream, `did not respond within ${timeoutMs} ms`, { details });
  }
}

/** The upstream responded with an HTTP status other than success. */
export class UpstreamBadStatusError extends UpstreamError {
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
    const retryable = status === 429 || status >= 500;
    const what = `responded with HTTP status ${status}${meaning}`;
    super('UPSTREAM_BAD_STATUS', upstream, what, { details, retryable, retryAfterMs });
    this.status = status;
    this.body = body;
  }
}

/** A traffic filter in front of the upstream responded with a page for people. */
export class UpstreamFilteredError extends UpstreamError {
  readonly status: number;

  constructor(upstream: AnyUpstream, status: number, details: ErrorDetails, retryAfterMs?: number) {
    const what = `is blocked by a traffic filter, which responded with HTTP status ${status}`;
    super('UPSTREAM_FILTERED', upstream, what, { details, retryAfterMs });
    this.status = status;
  }
}

/** JSON-RPC error codes of a node that could not read a block, the beacon state, or the exchange state of V1 or V3. */
const RETRYABLE_RPC_CODES: ReadonlySet<number | undefined> = new Set([-2003, -3000, -8000, -14001]);

/** The node responded with a JSON-RPC error. */
export class UpstreamRpcError extends UpstreamError {
  readonly rpcCode: number | undefined;

  constructor(rpcCode: number | undefined, details: ErrorDetails) {
    const what = rpcCode === undefined ? 'responded with an error' : `responded with error ${rpcCode}`;
    super('UPSTREAM_RPC_ERROR', 'NODE', what, { details, retryable: RETRYABLE_RPC_CODES.has(rpcCode) });
    this.rpcCode = rpcCode;
  }
}

/** The response does not match the interface specification: it is not JSON, or has a wrong value at some path. */
export class UpstreamBadShapeError extends UpstreamError {
  constructor(upstream: AnyUpstream, problem: string, details?: ErrorDetails) {
    super('UPSTREAM_BAD_SHAPE', upstream, `sent an invalid response: ${problem}`, { details, retryable: true });
  }
}

/** What the node has at a height can be of a branch that was given up: it has lately shown two blocks of one height, or another block. */
export class BranchError extends UpstreamError {
  constructor(height: number, details: ErrorDetails) {
    const what = `can be on another branch of the chain at beacon height ${height}, so its data of this height is not used`;
    super('UPSTREAM_BAD_SHAPE', 'NODE', what, { details, retryable: true });
  }
}

/** The host behind the URL of the node is something else, such as a node of another chain: no retry can succeed. */
export class ForeignNodeError extends UpstreamError {
  constructor(problem: string, details?: ErrorDetails) {
    const what = `does not look like a node of the Incognito chain: ${problem}`;
    super('UPSTREAM_BAD_SHAPE', 'NODE', what, { details });
  }
}

/**
 * The gateway does not call the upstream now: its queue is full, a request waited in it for too long, or the upstream
 * responded with so many errors that more of them could make it block the gateway.
 */
export class UpstreamBusyError extends UpstreamError {
  constructor(upstream: AnyUpstream, reason = 'is not called now, because too many requests wait for it') {
    super('UPSTREAM_BUSY', upstream, reason);
  }
}
