import { EXAMPLES } from './openapi-examples.ts';
import { ref } from './openapi-schemas.ts';

/** References to the descriptions of headers. */
export function headers(...names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name.replace(/^X-(Pdex-)?|-/g, ''))]));
}

/** The headers of every response. */
export const COMMON = ['X-Request-Id', 'X-Pdex-Sandbox', 'RateLimit-Policy', 'RateLimit'];

/** A response with a JSON document of a schema. @param more the names of the headers that not all documents have */
export function document(description: string, schema: keyof typeof EXAMPLES, ...more: readonly string[]) {
  const examples = { sample: { value: EXAMPLES[schema] } };
  return {
    description,
    headers: headers('Cache-Control', 'ETag', 'Vary', 'Age', ...more, ...COMMON),
    content: { 'application/json': { schema: ref('schemas', schema), examples } },
  };
}

/** A response with an error. @param messages an example of the message of each code */
function failure(description: string, messages: Readonly<Record<string, string>>, ...more: readonly string[]) {
  const examples = Object.entries(messages).map(([code, message]) => [code, { value: { code, message } }]);
  return {
    description,
    headers: headers(...more, ...COMMON),
    content: { 'application/json': { schema: ref('schemas', 'Error'), examples: Object.fromEntries(examples) } },
  };
}

/** The other responses of every document, by their status. */
export const ERRORS = {
  304: ref('responses', 'NotModified'),
  400: ref('responses', 'InvalidParameter'),
  412: ref('responses', 'HeightNotReached'),
  429: ref('responses', 'RateLimited'),
  500: ref('responses', 'InternalError'),
  503: ref('responses', 'NotAvailable'),
};

/** The parameters of several documents. */
export const PARAMETERS = {
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier response. The response is 304 if nothing has changed since.',
    schema: { type: 'string' },
  },
  MinHeight: {
    name: 'X-Pdex-Min-Height',
    in: 'header',
    description:
      'The newest beacon height that the client has seen, also from another gateway. The gateway waits until it has that height.',
    schema: { type: 'integer', minimum: 0 },
    example: 1_640_000,
  },
};

const TEXT = { type: 'string' };
const WHOLE_NUMBER = { type: 'string', pattern: '^\\d+$' };

/** The headers, by their names without hyphens. */
export const HEADERS = {
  RequestId: {
    description: 'The id of the request. The log of the gateway contains it too. A client can send its own id.',
    schema: TEXT,
  },
  Sandbox: { description: '`true` if the data is simulated.', schema: { const: 'true' } },
  CacheControl: {
    description: '`max-age` with the whole seconds until newer data is expected. `no-store` for an error.',
    schema: TEXT,
    example: 'max-age=8',
  },
  Vary: {
    description: 'Caches store a document for each value of `X-Pdex-Min-Height`, and for candles of `Accept`.',
    schema: TEXT,
  },
  ETag: { description: 'Equal documents have equal tags.', schema: TEXT },
  Age: {
    description:
      'Present only if data is stale, because its upstream cannot be read now: the age of the oldest data, in seconds.',
    schema: WHOLE_NUMBER,
    example: '42',
  },
  Height: {
    description: 'The beacon height of the pool prices. Present only if the gateway has read the node.',
    schema: WHOLE_NUMBER,
    example: '1640000',
  },
  RetryAfter: {
    description: 'Number of seconds to wait before the next request.',
    schema: WHOLE_NUMBER,
    example: '10',
  },
  RateLimitPolicy: {
    description: 'The rate limit of this client address, if there is one: `q` points in `w` seconds.',
    schema: TEXT,
  },
  RateLimit: {
    description: 'The points left (`r`), and the seconds until all of them are back (`t`).',
    schema: TEXT,
  },
};

/** The responses without a document. */
export const RESPONSES = {
  NotModified: {
    description: 'The client has the current document. There is no body.',
    headers: headers('Cache-Control', 'ETag', 'Vary', 'X-Pdex-Height', ...COMMON),
  },
  InvalidParameter: failure('A parameter or a header is invalid.', {
    BAD_USER_INPUT:
      'depth is "-1". It must be 0 (the complete book) or a whole number of entries, both sides together.',
  }),
  NotFound: failure('The ticker does not exist, or has no pool on the chain.', {
    NOT_FOUND: 'Ticker "pXYZ_PRV" does not exist.',
  }),
  HeightNotReached: failure(
    'The gateway has not reached the height in `X-Pdex-Min-Height`.',
    {
      HEIGHT_NOT_AVAILABLE:
        'The gateway did not reach the minimum height 1640007 within 10000 ms. Its newest height is 1640000.',
    },
    'Retry-After',
  ),
  RateLimited: failure(
    'This client address exceeds a limit.',
    { RATE_LIMITED: 'This client address exceeds the rate limit. Retry in 420 ms.' },
    'Retry-After',
  ),
  InternalError: failure('The gateway has a defect.', {
    INTERNAL_SERVER_ERROR: 'An internal error occurred in the gateway.',
  }),
  NotAvailable: failure(
    'The market-data host, for candles and trades also the node or the recorded history, cannot be read, and what was read before is too old or missing.',
    {
      UPSTREAM_UNREACHABLE: 'The market-data host cannot be reached.',
      UPSTREAM_NOT_CONFIGURED: 'The market-data host is not configured.',
      HISTORY_UNAVAILABLE: 'The recorded history cannot be read now.',
    },
    'Retry-After',
  ),
};
