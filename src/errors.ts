/** One of the two sources that the gateway reads. */
export type Upstream = 'NODE' | 'MARKET_DATA';

const UPSTREAM_NAMES: Record<Upstream, string> = { NODE: 'The node', MARKET_DATA: 'The market-data host' };

/** What reaches a client as `extensions.code`. A code never changes its meaning. */
export type ErrorCode =
  | 'BAD_USER_INPUT'
  | 'AMBIGUOUS_TICKER'
  | 'HEIGHT_NOT_AVAILABLE'
  | 'QUERY_TOO_COMPLEX'
  | 'RATE_LIMITED'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'INTERNAL_SERVER_ERROR'
  | UpstreamErrorCode;

/** What can go wrong at an upstream. */
export type UpstreamErrorCode =
  | 'UPSTREAM_NOT_CONFIGURED'
  | 'UPSTREAM_UNREACHABLE'
  | 'UPSTREAM_TIMEOUT'
  | 'UPSTREAM_BAD_STATUS'
  | 'UPSTREAM_FILTERED'
  | 'UPSTREAM_RPC_ERROR'
  | 'UPSTREAM_BAD_SHAPE'
  | 'UPSTREAM_BUSY';

/** What a log line needs and a client must never see: addresses, bodies, causes. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** An error that a client is told about: its message and its `extensions` are safe to send, its `details` are not. */
export abstract class GatewayError extends Error {
  abstract readonly code: ErrorCode;
  /** Whether the same request can succeed a moment later. */
  readonly retryable: boolean = false;
  readonly details: ErrorDetails;

  constructor(message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.details = details;
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

/** A ticker id that names several pools. */
export class AmbiguousTickerError extends GatewayError {
  readonly code = 'AMBIGUOUS_TICKER';
  readonly poolIds: readonly string[];

  constructor(tickerId: string, poolIds: readonly string[]) {
    super(`${poolIds.length} pools trade as ${JSON.stringify(tickerId)}: say which by poolId.`);
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
        ? `Beacon height ${height} is in the future: the newest is ${newestHeight}.`
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
  override readonly retryable = true;

  constructor(upstream: Upstream, details: ErrorDetails, cause: unknown) {
    super(upstream, 'cannot be reached', details, cause);
  }
}

/** The answer was not whole when its time was over. */
export class UpstreamTimeoutError extends UpstreamError {
  readonly code = 'UPSTREAM_TIMEOUT';
  override readonly retryable = true;

  constructor(upstream: Upstream, timeoutMs: number, details: ErrorDetails) {
    super(upstream, `did not answer within ${timeoutMs} ms`, details);
  }
}

/** An HTTP status that is no success. */
export class UpstreamBadStatusError extends UpstreamError {
  readonly code = 'UPSTREAM_BAD_STATUS';
  override readonly retryable: boolean;
  override readonly retryAfterMs: number | undefined;
  readonly status: number;
  /** What came with the status; never for a client. */
  readonly body: string;

  constructor(upstream: Upstream, status: number, body: string, details: ErrorDetails, retryAfterMs?: number) {
    super(upstream, `answered with HTTP status ${status}`, details);
    this.status = status;
    this.body = body;
    this.retryAfterMs = retryAfterMs;
    this.retryable = status === 429 || status >= 500;
  }
}

/** A page meant for a person: the traffic filter in front of the upstream stepped in. */
export class UpstreamFilteredError extends UpstreamError {
  readonly code = 'UPSTREAM_FILTERED';
  override readonly retryable = true;
  override readonly retryAfterMs: number | undefined;

  constructor(upstream: Upstream, status: number, details: ErrorDetails, retryAfterMs?: number) {
    super(upstream, `is behind a traffic filter that answered in its place, with HTTP status ${status}`, details);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The node answered with an error of its own. */
export class UpstreamRpcError extends UpstreamError {
  readonly code = 'UPSTREAM_RPC_ERROR';
  readonly rpcCode: number | undefined;

  constructor(rpcCode: number | undefined, details: ErrorDetails) {
    super('NODE', rpcCode === undefined ? 'answered with an error' : `answered with error ${rpcCode}`, details);
    this.rpcCode = rpcCode;
  }
}

/** The answer is not what the interface specification says: not JSON, or a misfit at some path. */
export class UpstreamBadShapeError extends UpstreamError {
  readonly code = 'UPSTREAM_BAD_SHAPE';
  override readonly retryable = true;

  constructor(upstream: Upstream, misfit: string, details: ErrorDetails = {}, cause?: unknown) {
    super(upstream, `gave an answer of the wrong shape: ${misfit}`, details, cause);
  }
}

/** Too many questions wait for this upstream already: it is the gateway that does not ask, so that none waits in vain. */
export class UpstreamBusyError extends UpstreamError {
  readonly code = 'UPSTREAM_BUSY';
  override readonly retryable = true;

  constructor(upstream: Upstream) {
    super(upstream, 'is asked for too much at once');
  }
}
