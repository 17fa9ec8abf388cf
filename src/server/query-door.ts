import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { createAcceptedTypes, type JsonType } from './accepted-type.ts';
import type { Admission } from './admission.ts';
import type { Answer } from './answer.ts';
import type { ConnectionBound } from './connection-bound.ts';
import type { Execution } from './execution.ts';
import type { Generation } from './generation.ts';
import type { HttpCaching } from './http-caching.ts';
import type { KeptAnswers } from './kept-answers.ts';
import type { Metrics } from './metrics.ts';
import { answerPreflight, headersForOrigin, varyFor } from './origins.ts';
import { hasPlainBody, type PlainParams, readBody, readPlainBody, readPlainSearch } from './plain-request.ts';
import type { RateLimits } from './rate-limits.ts';
import { toAnswer } from './refusal.ts';
import { REQUEST_ID_HEADER, type RequestIds } from './request-id.ts';
import { createSharedAnswers } from './shared-answers.ts';
import type { Yoga } from './yoga.ts';

/** What the door of the GraphQL endpoint is made of. */
export type QueryDoorOptions = {
  readonly yoga: Yoga;
  readonly execution: Execution;
  readonly kept: KeptAnswers;
  readonly generation: () => Generation;
  readonly caching: HttpCaching;
  readonly admission: Admission;
  readonly rates: RateLimits | undefined;
  readonly connections: ConnectionBound | undefined;
  readonly metrics: Metrics;
  readonly requestIds: RequestIds;
  /** Whose pages may ask, beside those of the gateway itself. */
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
};

/** Answers a request of the GraphQL endpoint, which has that id. */
export type QueryDoor = (request: IncomingMessage, response: ServerResponse, id: string) => void;

/** A plain query on its way to its answer. */
type Asked = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  readonly isGet: boolean;
  readonly type: JsonType;
};

/** Longer requests are neither kept nor shared: comparing them would take a share of what they take themselves. */
const MAX_TEXT_LENGTH = 16_384;

/**
 * Makes the door of the GraphQL endpoint.
 *
 * A plain query is given an answer that is kept, shares one that is under way, or is executed. Whatever else comes takes
 * Yoga's own door.
 */
export function createQueryDoor(options: QueryDoorOptions): QueryDoor {
  const { yoga, execution, kept, generation, caching, admission, rates, connections, metrics } = options;
  const { requestIds, corsOrigins, maxBodyBytes } = options;
  const acceptedType = createAcceptedTypes();
  const sharedByType = {
    'application/json': createSharedAnswers(),
    'application/graphql-response+json': createSharedAnswers(),
  };
  const vary = { get: varyFor('accept', corsOrigins), post: varyFor(undefined, corsOrigins) };

  function open(request: IncomingMessage, response: ServerResponse, id: string): void {
    const { method, headers } = request;
    const isGet = method === 'GET';
    if (method === 'OPTIONS' && answerPreflight(request, response, corsOrigins, [REQUEST_ID_HEADER, id])) return;
    if (connections?.admits(request, response) === false) {
      setAll(response, commonHeaders(request, id, isGet));
      connections.refuse(request, response);
      return;
    }
    const type = acceptedType(headers.accept);
    if (type === undefined || !(isGet || (method === 'POST' && hasPlainBody(request, maxBodyBytes)))) {
      passToYoga(request, response, id);
      return;
    }
    const asked = { request, response, id, isGet, type };
    const refused = admission.chargeRequest(request, 'http');
    if (refused !== undefined) refuse(asked, refused);
    else if (isGet) answer(asked, request.url ?? '', readUrl);
    else readBody(request, (body) => answerBody(asked, body));
  }

  function answerBody(asked: Asked, body: Buffer): void {
    // A URL begins with a slash: so no body is taken for one, and neither has to be marked.
    if (body[0] !== OPENING_BRACE) passToYoga(asked.request, asked.response, asked.id, body);
    // In Latin-1 each byte is one character: whatever differs in its bytes differs in its text.
    else answer(asked, body.toString('latin1'), () => readPlainBody(body), body);
  }

  /** Answers a text, which tells one request from all others: what it says is read only where that is not known. */
  function answer(asked: Asked, text: string, read: (asked: Asked) => PlainParams | undefined, body?: Buffer): void {
    const answerKept = text.length > MAX_TEXT_LENGTH ? undefined : kept.get(text);
    if (answerKept !== undefined) give(asked, answerKept, 'kept');
    else requestIds.run(asked.id, () => answerAnew(asked, text, read, body));
  }

  async function answerAnew(
    asked: Asked,
    text: string,
    read: (asked: Asked) => PlainParams | undefined,
    body: Buffer | undefined,
  ): Promise<void> {
    const { request, response, id, type } = asked;
    const isShared = text.length <= MAX_TEXT_LENGTH;
    const shared = sharedByType[type];
    const begun = generation();
    const underWay = await shared.underWay(text, begun);
    // What its client has no points for, another may have.
    if (underWay !== undefined && underWay.status !== RATE_LIMITED) {
      give(asked, underWay, 'shared');
      return;
    }

    const params = read(asked);
    if (params === undefined) {
      passToYoga(request, response, id, body);
      return;
    }
    const making = execution.answer(params, type, request, response);
    if (isShared) shared.share(text, begun, making);
    const made = await making;
    if (isShared) kept.keep(text, made, begun);
    metrics.answered('executed');
    send(asked, made);
  }

  /** Gives an answer that someone else has asked for: it takes as many points each time. */
  function give(asked: Asked, known: Answer, origin: 'kept' | 'shared'): void {
    const refused = admission.chargeAgain(asked.request, known.points);
    if (refused !== undefined) {
      refuse(asked, refused);
      return;
    }
    metrics.answered(origin);
    send(asked, known);
  }

  function send({ request, response, id, isGet, type }: Asked, known: Answer): void {
    const { status, headers, body } = known;
    if (response.destroyed) return;
    const all = commonHeaders(request, id, isGet, headers);
    if (isGet) {
      const { etag, cacheControl } = caching.of(known, type);
      all.push('cache-control', cacheControl);
      if (etag !== undefined) {
        all.push('etag', etag);
        if (caching.has(request, etag)) {
          response.writeHead(304, all).end();
          return;
        }
      }
    }
    all.push('content-type', CONTENT_TYPES[type], 'content-length', String(body.length));
    response.writeHead(status, all);
    response.end(body, 'latin1');
  }

  function refuse({ request, response, id, isGet, type }: Asked, error: GraphQLError): void {
    if (response.destroyed) return;
    const { status, headers, body } = toAnswer(error, type);
    setAll(response, commonHeaders(request, id, isGet, Object.entries(headers).flat()));
    if (isGet) response.setHeader('cache-control', 'no-store');
    response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body);
  }

  /** What every answer tells: its request's id, who may read it, how its client stands. */
  function commonHeaders(
    request: IncomingMessage,
    id: string,
    isGet: boolean,
    own: readonly string[] = NONE,
    isStanding = true,
  ): string[] {
    const all = [REQUEST_ID_HEADER, id, ...own, ...(isGet ? vary.get : vary.post)];
    if (corsOrigins.length > 0) all.push(...headersForOrigin(request, corsOrigins));
    if (rates !== undefined && isStanding) all.push(...rates.standingHeaders(request, retryAfterIn(own)));
    return all;
  }

  /** Hands a request to Yoga's own door, with what has been read of it. */
  function passToYoga(request: IncomingMessage, response: ServerResponse, id: string, body?: Buffer): void {
    const isGet = request.method === 'GET';
    setAll(response, commonHeaders(request, id, isGet, NONE, false));
    if (isGet) response.setHeader('cache-control', 'no-store');
    if (body !== undefined) Object.assign(request, { body: Readable.from([body]) });
    requestIds.run(id, () => yoga(request, response));
  }

  function readUrl({ request: { url = '' } }: Asked): PlainParams | undefined {
    const start = url.indexOf('?');
    return start < 0 ? undefined : readPlainSearch(new yoga.fetchAPI.URLSearchParams(url.slice(start + 1)));
  }

  return open;
}

const RATE_LIMITED = 429;

const OPENING_BRACE = 0x7b;

const CONTENT_TYPES: Readonly<Record<JsonType, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
};

const NONE: readonly string[] = [];

function setAll(response: ServerResponse, headers: readonly string[]): void {
  for (let n = 0; n < headers.length; n += 2) response.appendHeader(headers[n] ?? '', headers[n + 1] ?? '');
}

function retryAfterIn(headers: readonly string[]): string | undefined {
  const place = headers.indexOf('retry-after');
  return place < 0 ? undefined : headers[place + 1];
}
