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
    remedy:
      'Choose one of `extensions.poolIds` and send it as `poolId`. REST API: choose one of `poolIds`, and send it in place of the ticker id. At most 20 are listed. `pairs(filter: { tickerIds })` or `/pairs` has all.',
  },
  TRADE_REFUSED: {
    cause: 'A quote for a `route` that the exchange would refuse. `extensions.reason` is the reason.',
    remedy:
      'The description of `quote` explains the reasons. Change the amount or the route, or leave out `route` to get the best one.',
  },
  HEIGHT_NOT_AVAILABLE: {
    cause:
      'A height is in the future, or the node has pruned it, or the trades of its block are not recorded, or the gateway has not reached the minimum height of the request.',
    remedy:
      '`extensions.beaconHeight` is the newest known height. If `extensions.retryAfterMs` is there, retry after that time.',
    retryable: 'depends',
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
      'A traffic filter in front of the upstream responded with a page, or the configured URL belongs to a website.',
    retryable: true,
  },
  UPSTREAM_RPC_ERROR: {
    cause: 'The node responded with a JSON-RPC error, or it failed to read a state that it should have.',
    retryable: 'depends',
  },
  UPSTREAM_BAD_SHAPE: {
    cause:
      "The response does not match the upstream's interface, the host is not what the gateway expects, such as a node of another chain, or a node may be on another branch of the chain. The message names it.",
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
      'The recorded history cannot be read now, the read waited in the queue for too long, the queue is full and this client has the most reads in it, or the gateway records none (`HISTORY_DATABASE=off`). All other fields are not affected.',
    remedy:
      'Retry later, and request less of the history at once. Do not retry if `service.historyStatus` is `OFF`: then the gateway records none.',
    retryable: 'depends',
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
    cause:
      'A response has more than 100 errors. This is the last one. It has no `path`. Its message has the number of the errors that are not reported, or says that validation has stopped.',
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
    retryable: true,
  },
} satisfies Readonly<Record<string, ErrorCodeFacts>>;

/** What is known of a code. */
export type ErrorCodeFacts = {
  readonly cause: string;
  /** What the client can do; if it is left out, retry later. */
  readonly remedy?: string;
  /** Whether the same request can succeed a moment later: no by default; `depends` if it depends on the cause. */
  readonly retryable?: true | 'depends';
};

/** A code of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** A code of an error of an upstream. */
export type UpstreamErrorCode = Extract<ErrorCode, `UPSTREAM_${string}`>;

/** Whether a request that fails with a code can succeed a moment later, if the code alone decides that. */
export function isRetryable(code: unknown): boolean {
  return RETRYABLE.has(code);
}

const CODES: readonly (readonly [code: string, facts: ErrorCodeFacts])[] = Object.entries(ERROR_CODES);
const RETRYABLE = new Set<unknown>(CODES.flatMap(([code, { retryable }]) => (retryable === true ? [code] : [])));
