import { ERROR_EXAMPLES } from './openapi-examples.ts';

/** A reference to a component of the description. */
export const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** The headers of every response. */
export const COMMON_HEADERS = {
  'X-Request-Id': ref('headers', 'RequestId'),
  'X-Pdex-Sandbox': ref('headers', 'Sandbox'),
  'RateLimit-Policy': ref('headers', 'RateLimitPolicy'),
  RateLimit: ref('headers', 'RateLimit'),
};

/** The headers of a document that caches can store. */
export const CACHE_HEADERS = { 'Cache-Control': ref('headers', 'CacheControl'), ETag: ref('headers', 'ETag') };

/** A response with a JSON document. */
export function success(description: string, schema: string, example: object, headers: object = {}) {
  return {
    description,
    headers: {
      ...CACHE_HEADERS,
      Vary: ref('headers', 'Vary'),
      Age: ref('headers', 'Age'),
      ...headers,
      ...COMMON_HEADERS,
    },
    content: { 'application/json': { schema: ref('schemas', schema), examples: { sample: { value: example } } } },
  };
}

/** A response with an error. */
export function failure(description: string, codes: readonly (keyof typeof ERROR_EXAMPLES)[], headers: object = {}) {
  const examples = Object.fromEntries(codes.map((code) => [code, { value: { code, message: ERROR_EXAMPLES[code] } }]));
  return {
    description,
    headers: { ...headers, ...COMMON_HEADERS },
    content: { 'application/json': { schema: ref('schemas', 'Error'), examples } },
  };
}

/** The errors of every document. */
export const ERRORS = {
  304: ref('responses', 'NotModified'),
  400: ref('responses', 'InvalidParameter'),
  412: ref('responses', 'HeightNotReached'),
  429: ref('responses', 'RateLimited'),
  500: ref('responses', 'InternalError'),
  503: ref('responses', 'NotAvailable'),
};
