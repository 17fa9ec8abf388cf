import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { GraphQLError } from 'graphql';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import { orError } from '../../errors.ts';
import type { AccessLog } from '../access-log.ts';
import { handlePreflight, isPreflight, refuseOrigin } from '../clients/origins.ts';
import { Account } from '../clients/rate-limits.ts';
import type { ResponseSource } from '../metrics/metrics.ts';
import { EncodedResponse, type StartedSubscription } from '../operations/encoded-response.ts';
import { codesOf } from '../operations/log-details.ts';
import { type Client, createStreamCheck } from '../operations/prepared-operation.ts';
import { keyOf, type QueryRequest } from '../operations/query-responses.ts';
import { createEventStream } from '../requests/event-stream.ts';
import { LAST_EVENT_ID_HEADER, MIN_HEIGHT_HEADER, wantsCost } from '../requests/headers.ts';
import { type HttpExchange, isRead } from '../requests/http-exchange.ts';
import {
  type Accepted,
  createNegotiation,
  isCompressed,
  type JsonType,
  readContentType,
} from '../requests/media-types.ts';
import { type Entry, readFromUrl, readJson, readOperation } from '../requests/parameters.ts';
import { bodyTooLarge, internalError } from '../requests/refusal.ts';
import { createWriteBatch } from '../requests/write-batch.ts';
import type { TransportOptions } from '../transport-options.ts';
import { isArray, readBefore, readRequestBody } from './request-body.ts';
import type { ResponseWriter } from './response-writer.ts';

type GraphqlHandlerOptions = TransportOptions & {
  readonly writer: ResponseWriter;
  readonly accessLog: Pick<AccessLog, 'isAll'>;
  readonly maxBodyBytes: number;
  /** Responds to a request that is not plain. */
  readonly respondByYoga: (exchange: HttpExchange, account: Account) => void;
};

/** A plain request with one operation. */
type PlainRequest = QueryRequest & {
  readonly exchange: HttpExchange;
  readonly type: JsonType;
  /** The body; `undefined` for a GET. */
  readonly body: Buffer | undefined;
  /** Its operation, once it was parsed: a response from the cache does not need it. */
  sent: Entry | undefined;
};

/**
 * Creates the handler of the GraphQL endpoint. It refuses pages of other origins and clients over a limit, and then decides by
 * method, content type, `Accept` and the first character of the body who handles the request to its end.
 *
 * A plain request is a GET, a HEAD, or a POST of JSON other than an array, and its client accepts JSON. A query gets a response as on
 * every transport (`query-responses.ts`), and a subscription an event stream if its client accepts one too.
 */
export function createGraphqlHandler(options: GraphqlHandlerOptions): (exchange: HttpExchange) => void {
  const { pipeline, persisted, minimumHeights, writer, clients, rates, connections, corsOrigins } = options;
  const { requestIds, maskError, tracing, maxBodyBytes, respondByYoga } = options;
  const isAllLogged = options.accessLog.isAll;
  const accepted = createNegotiation();
  const batch = createWriteBatch();
  const respond = options.respondOver({ execute, send, refuse });

  function refusalOf(request: IncomingMessage, response: ServerResponse, account: Account): GraphQLError | undefined {
    const refused = refuseOrigin(request, corsOrigins) ?? connections?.admit(request, response);
    return request.method === 'OPTIONS' ? refused : (refused ?? account.chargeUpTo(1));
  }

  function handle(exchange: HttpExchange, account: Account, { json, events, multipart }: Accepted): void {
    const { request } = exchange;
    // Yoga gets the whole body: if it reads one itself, each chunk passes several streams. To refuse a request, it needs none.
    const handleOther = (body: Buffer | undefined) => {
      if (body !== undefined) Object.assign(request, { body: Readable.from([body]) });
      respondByYoga(exchange, account);
    };
    const before = isRead(request) ? undefined : readBefore(request);
    const kind = request.method === 'POST' ? readContentType(request.headers['content-type']) : undefined;
    const isAcceptable = json !== undefined || events || multipart;
    const isReadable = kind !== undefined && isAcceptable && !isCompressed(request.headers['content-encoding']);
    if (isRead(request) && json !== undefined) handlePlain(exchange, account, json, undefined);
    else if (!isReadable) handleOther(before);
    else
      readRequestBody(request, before, maxBodyBytes, (body) => {
        if (body === undefined) writer.refuse(exchange, json, bodyTooLarge());
        else if (json === undefined || kind !== 'json' || isArray(body)) handleOther(body);
        else handlePlain(exchange, account, json, body);
      });
  }

  function handlePlain(exchange: HttpExchange, account: Account, type: JsonType, body: Buffer | undefined): void {
    const { request, id, startedAt } = exchange;
    // In Latin-1 each byte is one character: texts differ if their bytes differ. The key of a GET is its URL, which begins with a
    // slash. A body that does too gets no key, so that it cannot be taken for one.
    const text = body === undefined ? request.url : body.toString('latin1');
    const isCacheable = !wantsCost(request) && body?.[0] !== SLASH;
    const key = isCacheable ? keyOf(text ?? '') : undefined;
    const span = tracing?.startOperation('http', id, request.headers, startedAt);
    const plain = { exchange, account, type, key, body, span, sent: undefined };
    try {
      const responding = respondAt(request.headers[MIN_HEIGHT_HEADER], plain);
      if (responding instanceof Promise) responding.catch((error) => fail(plain, error));
    } catch (error) {
      fail(plain, error);
    }
  }

  /** Responds when the height is served. Responses in the cache are never below the height that is served. */
  function respondAt(minimum: unknown, plain: PlainRequest): MaybePromise<void> {
    if (minimum === undefined) return respond(plain);
    return andThen(minimumHeights.reach(minimum, MIN_HEIGHT_HEADER, clientOf(plain)), (refused) => {
      if (refused === undefined) return respond(plain);
      plain.span?.end({ codes: codesOf([refused]) });
      return send(plain, pipeline.refuse(clientOf(plain), [refused]), 'executed');
    });
  }

  function execute(plain: PlainRequest): MaybePromise<EncodedResponse | undefined> {
    const sent = readSent(plain);
    if (sent instanceof GraphQLError) return refuse(plain, sent);
    const check = createStreamCheck(accepted(plain.exchange.request.headers.accept), pipeline.admit);
    return requestIds.run(plain.exchange.id, () =>
      andThen(pipeline.respond(sent, clientOf(plain), check), (result) =>
        result instanceof EncodedResponse ? result : stream(plain, result),
      ),
    );
  }

  function stream({ exchange, span, sent }: PlainRequest, { updates, points }: StartedSubscription): undefined {
    span?.end({ codes: [] });
    const access = { label: persisted.labelOf(sent), cost: points };
    writer.stream(exchange, () => createEventStream(updates, options, exchange.response), access);
  }

  function clientOf({ exchange: { request, response, startedAt: receivedAt }, account, span }: PlainRequest): Client {
    const lastEventId = request.headers[LAST_EVENT_ID_HEADER]?.toString();
    const address = clients.of(request);
    return { address, connection: response, receivedAt, account, wantsCost: wantsCost(request), lastEventId, span };
  }

  function send(plain: PlainRequest, response: EncodedResponse, from: ResponseSource): undefined {
    const isLogged = isAllLogged || response.errors !== undefined;
    const access = isLogged
      ? { label: persisted.labelOf(readSent(plain)), ...response.accessDetails, from }
      : undefined;
    batch(() => {
      try {
        writer.send(plain.exchange, plain.type, response, access);
      } catch (error) {
        fail(plain, error);
      }
    });
  }

  function refuse(plain: PlainRequest, error: GraphQLError): undefined {
    const { exchange, type, span } = plain;
    writer.refuse(exchange, type, error, persisted.labelOf(readSent(plain)));
    span?.end({ codes: codesOf([error]) });
  }

  function fail(plain: PlainRequest, error: unknown): void {
    const { exchange } = plain;
    // A batch is written in the context of one of its requests: the log names this one.
    const masked = internalError(requestIds.run(exchange.id, () => maskError(error)));
    if (exchange.response.headersSent) exchange.response.destroy();
    else refuse(plain, masked);
  }

  return (exchange) => {
    const { request, response } = exchange;
    if (isPreflight(request, corsOrigins)) {
      writer.begin(exchange);
      handlePreflight(request, response);
      return;
    }
    const accepts = accepted(request.headers.accept);
    const account = new Account(rates, request, 'http');
    const refused = refusalOf(request, response, account);
    if (refused !== undefined) writer.refuse(exchange, accepts.json, refused);
    else handle(exchange, account, accepts);
  };
}

/** The operation of a request, or the error of one that has none. It is parsed once. */
function readSent(plain: PlainRequest): Entry {
  const { exchange, body } = plain;
  plain.sent ??= orError(GraphQLError, () =>
    body === undefined ? readFromUrl(exchange.request.url ?? '') : readOperation(readJson(body)),
  );
  return plain.sent;
}

const SLASH = 0x2f;
