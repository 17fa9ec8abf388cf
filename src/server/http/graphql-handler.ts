import { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { AccessLog } from '../access-log.ts';
import type { ConnectionLimits } from '../clients/connection-limits.ts';
import { handlePreflight, isAllowedOrigin, isPreflight, originNotAllowed } from '../clients/origins.ts';
import type { Metrics, ResponseSource } from '../metrics/metrics.ts';
import type { Admission } from '../operations/admission.ts';
import { summarizeRefusal } from '../operations/error-summary.ts';
import { labelOf, type OperationLabel } from '../operations/operation-label.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import { failure } from '../operations/refusal.ts';
import type { Yoga } from '../yoga/yoga.ts';
import { createAcceptedTypes, type JsonType } from './accept.ts';
import { wantsCost } from './cost-header.ts';
import type { DataVersion } from './data-version.ts';
import type { EncodedResponse } from './encoded-response.ts';
import type { Execution } from './execution.ts';
import type { HttpExchange } from './open-responses.ts';
import { createRequestCoalescing, type RequestCoalescing } from './request-coalescing.ts';
import type { RequestIds } from './request-id.ts';
import {
  hasInvalidUtf8,
  hasPlainBody,
  type RequestParameters,
  readBody,
  readBodyParameters,
  readSearchParameters,
} from './request-parameters.ts';
import type { ResponseCache } from './response-cache.ts';
import type { ResponseWriter } from './response-writer.ts';
import { createWriteBatch } from './write-batch.ts';

/** What the door of the GraphQL endpoint is made of. */
export type GraphqlHandlerOptions = {
  readonly yoga: Yoga;
  readonly execution: Execution;
  readonly persisted: PersistedQueries;
  readonly kept: ResponseCache;
  readonly generation: () => DataVersion;
  readonly replies: ResponseWriter;
  readonly accessLog: Pick<AccessLog, 'isAll'>;
  readonly admission: Admission;
  readonly connections: ConnectionLimits | undefined;
  readonly metrics: Metrics;
  readonly requestIds: RequestIds;
  readonly maskError: (error: unknown) => GraphQLError;
  /** Whose pages may ask, beside those of the gateway itself. */
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
};

/** Answers a request of the GraphQL endpoint. */
export type GraphqlHandler = (exchange: HttpExchange) => void;

/** A plain query on its way to its answer. */
type Asked = {
  readonly exchange: HttpExchange;
  readonly type: JsonType;
  /** Tells it from all others; what it says is read only where the answer is not known. */
  readonly text: string;
  /** What has been read of the request's body. */
  readonly body: Buffer | undefined;
};

/** Longer requests are neither kept nor shared: comparing them would take a share of what they take themselves. */
const MAX_TEXT_LENGTH = 16_384;

/**
 * Makes the door of the GraphQL endpoint.
 *
 * A plain query is given an answer that is kept, shares one that is under way, or is executed. Whatever else comes takes
 * Yoga's own door.
 */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { yoga, execution, persisted, kept, generation, replies, admission, connections } = options;
  const { metrics, requestIds, maskError, corsOrigins, maxBodyBytes } = options;
  const isAllLogged = options.accessLog.isAll;
  const acceptedType = createAcceptedTypes();
  const outbox = createWriteBatch();
  const sharedByType = {
    'application/json': createRequestCoalescing(),
    'application/graphql-response+json': createRequestCoalescing(),
  };

  function open(exchange: HttpExchange): void {
    const { request, response } = exchange;
    const { method, headers } = request;
    const isGet = method === 'GET';
    if (isPreflight(request, corsOrigins)) {
      replies.begin(exchange);
      handlePreflight(request, response);
      return;
    }
    if (!isAllowedOrigin(request, corsOrigins)) {
      refuse(exchange, acceptedType(headers.accept) ?? 'application/json', originNotAllowed(request));
      return;
    }
    if (connections?.admit(request, response) === false) {
      replies.begin(exchange);
      connections.refuse(request, response);
      return;
    }
    const type = acceptedType(headers.accept);
    if (type === undefined || !(isGet || (method === 'POST' && hasPlainBody(request, maxBodyBytes)))) {
      passToYoga(exchange);
      return;
    }
    const refused = admission.chargeRequest(request, 'http');
    if (refused !== undefined) refuse(exchange, type, refused);
    else if (isGet) answer({ exchange, type, text: request.url ?? '', body: undefined });
    else readBody(request, (body) => answerBody(exchange, type, body));
  }

  function answerBody(exchange: HttpExchange, type: JsonType, body: Buffer): void {
    // A URL begins with a slash: so no body is taken for one, and neither has to be marked.
    if (body[0] !== OPENING_BRACE) passToYoga(exchange, body);
    // In Latin-1 each byte is one character: whatever differs in its bytes differs in its text.
    else answer({ exchange, type, text: body.toString('latin1'), body });
  }

  function answer(asked: Asked): void {
    const known = isCacheable(asked) ? kept.get(asked.text) : undefined;
    if (known !== undefined) give(asked, known, 'kept');
    else requestIds.run(asked.exchange.id, () => orFail(asked, () => answerAnew(asked)));
  }

  /** Nobody else waits for an answer that could not be made or sent: without one its client would wait for ever. */
  function orFail(asked: Asked, work: () => MaybePromise<void>): void {
    const { exchange, type } = asked;
    const fail = (error: unknown) => {
      // It may be sent in the turn of another request: the log names this one.
      const told = failure(requestIds.run(exchange.id, () => maskError(error)));
      if (exchange.response.headersSent) exchange.response.destroy();
      else refuse(exchange, type, told, labelOfPlain(asked));
    };
    try {
      const working = work();
      if (working instanceof Promise) working.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Gives the answer that is under way for someone else, or has one made. */
  function answerAnew(asked: Asked): MaybePromise<void> {
    const underWay = sharedOf(asked)?.inFlight(asked.text, generation());
    if (underWay === undefined) return make(asked);
    // What its client has no points for, another may have.
    return underWay.then((known) => (known.status === RATE_LIMITED ? make(asked) : give(asked, known, 'shared')));
  }

  /** Has an answer made, for all who ask for it until it is there. */
  function make(asked: Asked): MaybePromise<void> {
    const { exchange, type, text, body } = asked;
    const params = readParams(asked);
    // A stream of results is not one answer. Where the word stands for something else, Yoga's own door does as well.
    if (params === undefined || persisted.find(params)?.includes('subscription')) {
      passToYoga(exchange, body);
      return;
    }
    const shared = sharedOf(asked);
    const begun = generation();
    const making = execution.answer(params, type, exchange);
    if (making instanceof Promise) shared?.share(text, begun, making);
    return andThen(making, (made) => {
      if (shared !== undefined) kept.store(text, made, begun);
      metrics.recordResponseSource('executed');
      send(asked, made, 'executed');
    });
  }

  function sharedOf(asked: Asked): RequestCoalescing | undefined {
    return isCacheable(asked) ? sharedByType[asked.type] : undefined;
  }

  /** Gives an answer that someone else has asked for: it takes as many points each time. */
  function give(asked: Asked, known: EncodedResponse, from: ResponseSource): void {
    const { exchange, type } = asked;
    const refused = admission.chargeAgain(exchange.request, known.points);
    if (refused !== undefined) {
      refuse(exchange, type, refused, labelOfPlain(asked));
      return;
    }
    metrics.recordResponseSource(from);
    send(asked, known, from);
  }

  function refuse(exchange: HttpExchange, type: JsonType, error: GraphQLError, label: OperationLabel = {}): void {
    exchange.access = { label, errors: summarizeRefusal(error) };
    replies.refuse(exchange, type, error);
  }

  function send(asked: Asked, answer: EncodedResponse, from: ResponseSource): void {
    const { errors } = answer;
    if (isAllLogged || errors !== undefined) asked.exchange.access = { label: labelOfPlain(asked), errors, from };
    outbox(() => orFail(asked, () => replies.send(asked.exchange, asked.type, answer)));
  }

  /** Hands a request to Yoga's own door, with what has been read of it. */
  function passToYoga(exchange: HttpExchange, body?: Buffer): void {
    const { request, response, id } = exchange;
    replies.begin(exchange);
    if (body !== undefined) Object.assign(request, { body: Readable.from([body]) });
    requestIds.run(id, () => yoga(request, response, { exchange } as never));
  }

  function labelOfPlain(asked: Asked): OperationLabel {
    const params = readParams(asked);
    return params === undefined ? {} : labelOf({ ...params, query: persisted.find(params) });
  }

  function readParams({ exchange: { request }, text, body }: Asked): RequestParameters | undefined {
    if (body !== undefined) return readBodyParameters(body, text);
    const { url = '' } = request;
    const start = url.indexOf('?');
    return start < 0 || hasInvalidUtf8(url)
      ? undefined
      : readSearchParameters(new yoga.fetchAPI.URLSearchParams(url.slice(start + 1)));
  }

  return open;
}

/** Whether the answer to a request may be another request's: one with a cost is not. */
function isCacheable({ text, exchange }: Asked): boolean {
  return text.length <= MAX_TEXT_LENGTH && !wantsCost({ req: exchange.request });
}

const RATE_LIMITED = 429;

const OPENING_BRACE = 0x7b;
