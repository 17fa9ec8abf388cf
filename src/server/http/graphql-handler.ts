import { GraphQLError } from 'graphql';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import type { AccessLog } from '../access-log.ts';
import { Account } from '../clients/rate-limits.ts';
import type { ResponseSource } from '../metrics/metrics.ts';
import type { RespondToArray } from '../operations/array-response.ts';
import { EncodedResponse, type StartedSubscription } from '../operations/encoded-response.ts';
import { codesOf, type OperationLabel, summarizeErrors } from '../operations/log-details.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import { type Client, isSubscription, type PreparedOperation } from '../operations/prepared-operation.ts';
import { keyOf, type QueryRequest } from '../operations/query-responses.ts';
import { createEventStream, type EventStreamOptions } from '../requests/event-stream.ts';
import { LAST_EVENT_ID_HEADER, MIN_HEIGHT_HEADER, wantsCost } from '../requests/headers.ts';
import type { HttpExchange } from '../requests/http-exchange.ts';
import { createNegotiation, type JsonType } from '../requests/media-types.ts';
import { type Entry, orError, readEntries, readJson, readOperation, readUrl } from '../requests/parameters.ts';
import { bodyTooLarge, compressed, internalError, noEventStream } from '../requests/refusal.ts';
import { createWriteBatch } from '../requests/write-batch.ts';
import type { TransportOptions } from '../transport-options.ts';
import { collectBody } from './request-body.ts';
import type { ResponseWriter } from './response-writer.ts';

/** What the handler needs. */
type GraphqlHandlerOptions = TransportOptions &
  EventStreamOptions & {
    readonly respondToArray: RespondToArray;
    readonly persisted: PersistedQueries;
    readonly writer: ResponseWriter;
    readonly accessLog: Pick<AccessLog, 'isAll'>;
    readonly maxBodyBytes: number;
    readonly maxOperationsPerRequest: number;
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
 * Creates the handler of plain requests to the GraphQL endpoint. A query gets a response as on every transport
 * (`query-responses.ts`), a subscription an event stream if its client accepts one too, and an array its results.
 */
export function createGraphqlHandler(options: GraphqlHandlerOptions) {
  const { pipeline, persisted, minimumHeights, writer, clients, rates, requestIds, maskError, tracing } = options;
  const { maxBodyBytes, maxOperationsPerRequest } = options;
  const isAllLogged = options.accessLog.isAll;
  const accepted = createNegotiation();
  const batch = createWriteBatch();
  const respond = options.respondOver({ execute, send, refuse });

  function handle(exchange: HttpExchange, account: Account, type: JsonType, before: Buffer | undefined): void {
    const { request } = exchange;
    const plain = { exchange, account, type, key: undefined, body: undefined, sent: undefined };
    if (request.method !== 'POST') {
      respondTo(plain, request.url ?? '', undefined);
      return;
    }
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (encoding !== 'identity') {
      refuse(plain, compressed());
      return;
    }
    const onBody = (body: Buffer | undefined) => {
      if (body === undefined) return refuse(plain, bodyTooLarge());
      // In Latin-1 each byte is one character: texts differ if their bytes differ. No JSON begins with a slash, as a URL does.
      if (body[0] === OPENING_BRACE) return respondTo(plain, body.toString('latin1'), body);
      const params = orError(() => readJson(body));
      if (Array.isArray(params)) orFail(plain, () => respondToAll(plain, params));
      else respondTo(plain, params instanceof GraphQLError ? undefined : body.toString('latin1'), body);
    };
    if (before === undefined) collectBody(request, maxBodyBytes, onBody);
    else onBody(before.length > maxBodyBytes ? undefined : before);
  }

  /** @param text the URL, or the body with a character for each byte; `undefined` if the response is not cached */
  function respondTo(request: PlainRequest, text: string | undefined, body: Buffer | undefined): void {
    const { exchange } = request;
    const { headers } = exchange.request;
    const span = tracing?.startOperation('http', exchange.id, headers, exchange.startedAt);
    const key = text === undefined || wantsCost(exchange.request) ? undefined : keyOf(text);
    const plain = { ...request, key, body, span };
    const minimum = headers[MIN_HEIGHT_HEADER];
    orFail(plain, () => (minimum === undefined ? respond(plain) : respondAt(minimum, plain)));
  }

  /** Responds when the height is served. Responses in the cache are never below the height that is served. */
  function respondAt(minimum: string | string[], plain: PlainRequest): MaybePromise<void> {
    return andThen(minimumHeights.reachSent(minimum, MIN_HEIGHT_HEADER, clientOf(plain)), (refused) => {
      if (refused === undefined) return respond(plain);
      plain.span?.end({ codes: codesOf([refused]) });
      return send(plain, pipeline.refuse(clientOf(plain), [refused]), 'executed');
    });
  }

  function execute(plain: PlainRequest): MaybePromise<EncodedResponse | undefined> {
    const sent = readSent(plain);
    if (sent instanceof GraphQLError) return refuse(plain, sent);
    const { events, multipart } = accepted(plain.exchange.request.headers.accept);
    const check = (prepared: PreparedOperation) =>
      isSubscription(prepared) && !events ? noEventStream(multipart) : undefined;
    return requestIds.run(plain.exchange.id, () =>
      andThen(pipeline.respond(sent, clientOf(plain), check), (result) =>
        result instanceof EncodedResponse ? result : stream(plain, result),
      ),
    );
  }

  function stream({ exchange, span, sent }: PlainRequest, { updates, points }: StartedSubscription): undefined {
    span?.end({ codes: [] });
    const access = { label: labelOf(sent), cost: points };
    writer.stream(exchange, () => createEventStream(updates, options, exchange.response), access);
  }

  async function respondToAll(plain: PlainRequest, params: readonly unknown[]): Promise<void> {
    const entries = orError(() => readEntries(params, maxOperationsPerRequest));
    if (entries instanceof GraphQLError) return refuse(plain, entries);
    const { exchange, account, type } = plain;
    const { id, request, startedAt } = exchange;
    const clientAt = (index: number) => {
      const span = tracing?.startOperation('http', id, request.headers, startedAt);
      const own = index === 0 ? account : new Account(rates, request, 'http');
      return { ...clientOf({ ...plain, account: own, span }), minHeight: request.headers[MIN_HEIGHT_HEADER] };
    };
    const { response, access } = await requestIds.run(id, () => options.respondToArray(entries, clientAt));
    writer.send(exchange, type, response, { label: labelOf(entries[0]), ...access });
  }

  function clientOf({ exchange: { request, response, startedAt: receivedAt }, account, span }: PlainRequest): Client {
    const lastEventId = request.headers[LAST_EVENT_ID_HEADER]?.toString();
    const address = clients.of(request);
    return { address, connection: response, receivedAt, account, wantsCost: wantsCost(request), lastEventId, span };
  }

  function send(plain: PlainRequest, response: EncodedResponse, from: ResponseSource): undefined {
    const isLogged = isAllLogged || response.errors !== undefined;
    const access = isLogged ? { label: labelOf(readSent(plain)), ...response.accessDetails, from } : undefined;
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
    writer.refuse(exchange, type, error, { label: labelOf(readSent(plain)), errors: summarizeErrors([error]) });
    span?.end({ codes: codesOf([error]) });
  }

  /** Does the work of a request, and responds with an internal error if that fails. */
  function orFail(plain: PlainRequest, work: () => MaybePromise<void>): void {
    try {
      const working = work();
      if (working instanceof Promise) working.catch((error) => fail(plain, error));
    } catch (error) {
      fail(plain, error);
    }
  }

  function fail(plain: PlainRequest, error: unknown): void {
    const { exchange } = plain;
    // A batch is written in the context of one of its requests: the log names this one.
    const masked = internalError(requestIds.run(exchange.id, () => maskError(error)));
    if (exchange.response.headersSent) exchange.response.destroy();
    else refuse(plain, masked);
  }

  function labelOf(sent: Entry | undefined): OperationLabel {
    return sent === undefined || sent instanceof GraphQLError ? {} : persisted.labelOf(sent);
  }

  return handle;
}

/** The operation of a request, or the error of one that has none. It is parsed once. */
function readSent(plain: PlainRequest): Entry {
  const { exchange, body } = plain;
  plain.sent ??= orError(() =>
    body === undefined ? readUrl(exchange.request.url ?? '') : readOperation(readJson(body)),
  );
  return plain.sent;
}

const OPENING_BRACE = 0x7b;
