import { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import { inSpan } from '../../tracing/tracing.ts';
import type { AccessLog } from '../access-log.ts';
import { handlePreflight, isAllowedOrigin, isPreflight, originNotAllowed } from '../clients/origins.ts';
import type { ResponseSource } from '../metrics/metrics.ts';
import { Account } from '../operations/account.ts';
import { type EncodedResponse, encodeResponse } from '../operations/encoded-response.ts';
import { codesOf, type OperationLabel, summarizeErrors } from '../operations/log-details.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import { isSubscription, type Prepared, type SentOperation } from '../operations/pipeline.ts';
import { keyOf, type QueryRequest } from '../operations/query-responses.ts';
import { LAST_EVENT_ID_HEADER, MIN_HEIGHT_HEADER, wantsCost } from '../requests/headers.ts';
import { createAcceptedTypes, type JsonType } from '../requests/media-types.ts';
import {
  hasInvalidUtf8,
  hasPlainBody,
  readBefore,
  readBody,
  readBodyParameters,
  readSearchParameters,
} from '../requests/parameters.ts';
import { internalError } from '../requests/refusal.ts';
import { isRead } from '../requests/target.ts';
import type { TransportOptions } from '../transport-options.ts';
import type { Yoga } from '../yoga/yoga.ts';
import type { HttpExchange } from './open-responses.ts';
import type { ResponseWriter } from './response-writer.ts';
import { createWriteBatch } from './write-batch.ts';

/** What the handler of the GraphQL endpoint needs. */
type GraphqlHandlerOptions = TransportOptions & {
  /** Yoga, which is created at the first call. */
  readonly yoga: () => Yoga;
  readonly persisted: PersistedQueries;
  readonly writer: ResponseWriter;
  readonly accessLog: Pick<AccessLog, 'isAll'>;
  readonly maxBodyBytes: number;
};

/** A plain query: one operation, by GET or as a JSON body, whose client accepts JSON. */
type PlainRequest = QueryRequest & {
  readonly exchange: HttpExchange;
  readonly type: JsonType;
  /** Its URL, or its body with a character for each byte. */
  readonly text: string;
  /** The body, if it was read. */
  readonly body: Buffer | undefined;
};

/**
 * Creates the handler of the GraphQL endpoint.
 *
 * A plain query gets a response as on every transport (`query-responses.ts`). Yoga handles all other requests, with the same
 * pipeline.
 */
export function createGraphqlHandler(options: GraphqlHandlerOptions): (exchange: HttpExchange) => void {
  const { yoga, pipeline, persisted, minimumHeights, writer, clients, rates, connections } = options;
  const { requestIds, maskError, corsOrigins, maxBodyBytes, tracing } = options;
  const isAllLogged = options.accessLog.isAll;
  const acceptedType = createAcceptedTypes();
  const batch = createWriteBatch();
  const respond = options.respondOver({ execute, send, refuse: refusePlain });

  function handle(exchange: HttpExchange): void {
    const { request, response } = exchange;
    const { method, headers } = request;
    const type = acceptedType(headers.accept);
    if (isPreflight(request, corsOrigins)) {
      writer.begin(exchange);
      handlePreflight(request, response);
      return;
    }
    if (!isAllowedOrigin(request, corsOrigins)) {
      refuse(exchange, type, originNotAllowed(request));
      return;
    }
    if (connections?.admit(request, response) === false) {
      refuse(exchange, type, connections.refusal);
      return;
    }
    const account = new Account(rates, request, 'http');
    const unpaid = method === 'OPTIONS' ? undefined : account.charge(1);
    if (unpaid !== undefined) {
      refuse(exchange, type, unpaid);
      return;
    }
    if (type !== undefined && isRead(request)) {
      respondTo(exchange, account, type, request.url ?? '', undefined);
      return;
    }
    const before = readBefore(request);
    if (type !== undefined && method === 'POST' && hasPlainBody(request, maxBodyBytes)) {
      // In Latin-1 each byte is one character: texts differ if their bytes differ.
      const onBody = (body: Buffer) => respondTo(exchange, account, type, body.toString('latin1'), body);
      if (before === undefined) readBody(request, onBody);
      else onBody(before);
    } else {
      exchange.account = account;
      passToYoga(exchange, before);
    }
  }

  function respondTo(
    exchange: HttpExchange,
    account: Account,
    type: JsonType,
    text: string,
    body: Buffer | undefined,
  ): void {
    const key = wantsCost(exchange.request) ? undefined : keyOf(text);
    // A URL begins with a slash, so it equals no body.
    const isOne = body === undefined || body[0] === OPENING_BRACE;
    const { id, request, startedAt } = exchange;
    const span = isOne ? tracing?.startOperation('http', id, request.headers, startedAt) : undefined;
    const plain = { exchange, account, type, key, text, body, span };
    const minimum = exchange.request.headers[MIN_HEIGHT_HEADER];
    if (!isOne) passPlainToYoga(plain);
    else if (minimum === undefined) orFail(plain, respond);
    else orFail(plain, () => respondAt(minimum, plain));
  }

  /** Responds when the height is served. Responses in the cache are never below the height that is served. */
  function respondAt(minimum: string | string[], plain: PlainRequest): MaybePromise<void> {
    return andThen(minimumHeights.reachSent(minimum, MIN_HEIGHT_HEADER, clientOf(plain)), (refused) => {
      if (refused === undefined) return respond(plain);
      const { span, account } = plain;
      const result = new WrittenResult(undefined, [refused]);
      span?.end({ codes: codesOf([refused]) });
      return send(plain, encodeResponse({ result }, account.paid, 0, maskError), 'executed');
    });
  }

  function execute(plain: PlainRequest): MaybePromise<EncodedResponse | undefined> {
    const sent = readParameters(plain);
    if (sent === undefined) return passPlainToYoga(plain);
    return requestIds.run(plain.exchange.id, () =>
      inSpan(plain.span, () =>
        andThen(pipeline.prepare(sent, clientOf(plain)), (prepared) =>
          isSubscription(prepared) ? passPlainToYoga(plain, prepared) : runQuery(plain, prepared),
        ),
      ),
    );
  }

  function runQuery({ account }: PlainRequest, prepared: Prepared): MaybePromise<EncodedResponse> {
    const { points, cost } = prepared.errors === undefined ? prepared : NO_COST;
    return andThen(pipeline.run(prepared), (executed) =>
      encodeResponse(executed, Math.max(account.paid, points), cost.values, maskError),
    );
  }

  function clientOf({ exchange: { request, response, startedAt: receivedAt }, account, span }: PlainRequest) {
    // A client that also accepts JSON can open an event stream.
    const lastEventId = request.headers[LAST_EVENT_ID_HEADER]?.toString();
    const address = clients.of(request);
    return { address, connection: response, receivedAt, account, wantsCost: wantsCost(request), lastEventId, span };
  }

  function send(plain: PlainRequest, response: EncodedResponse, from: ResponseSource): undefined {
    const { exchange, type } = plain;
    if (isAllLogged || response.errors !== undefined)
      exchange.access = { label: labelOfPlain(plain), ...response.accessDetails, from };
    batch(() => {
      try {
        writer.send(exchange, type, response);
      } catch (error) {
        fail(plain, error);
      }
    });
  }

  function refusePlain(plain: PlainRequest, error: GraphQLError): undefined {
    refuse(plain.exchange, plain.type, error, labelOfPlain(plain));
    plain.span?.end({ codes: codesOf([error]) });
  }

  function refuse(
    exchange: HttpExchange,
    type: JsonType | undefined,
    error: GraphQLError,
    label: OperationLabel = {},
  ): void {
    exchange.access = { label, errors: summarizeErrors([error]) };
    writer.refuse(exchange, type ?? 'application/json', error);
  }

  /** Does the work of a request, and responds with an internal error if that fails. */
  function orFail(plain: PlainRequest, work: (plain: PlainRequest) => MaybePromise<void>): void {
    try {
      const working = work(plain);
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
    else refusePlain(plain, masked);
  }

  function passPlainToYoga({ exchange, account, body, span }: PlainRequest, prepared?: Prepared): undefined {
    exchange.account = account;
    exchange.span = span;
    exchange.prepared = prepared;
    passToYoga(exchange, body);
  }

  function passToYoga(exchange: HttpExchange, body: Buffer | undefined): void {
    const { request, response, id } = exchange;
    if (body !== undefined) Object.assign(request, { body: Readable.from([body]) });
    writer.begin(exchange);
    // Yoga does not know HEAD.
    const read = request.method === 'HEAD' ? Object.create(request, { method: { value: 'GET' } }) : request;
    requestIds.run(id, () => yoga()(read, response, { exchange } as never));
  }

  function labelOfPlain(plain: PlainRequest): OperationLabel {
    const sent = readParameters(plain);
    return sent === undefined ? {} : persisted.labelOf(sent);
  }

  function readParameters({ exchange: { request }, text, body }: PlainRequest): SentOperation | undefined {
    if (body !== undefined) return readBodyParameters(body, text);
    const { url = '' } = request;
    const start = url.indexOf('?');
    return start < 0 || hasInvalidUtf8(url)
      ? undefined
      : readSearchParameters(new URLSearchParams(url.slice(start + 1)));
  }

  return handle;
}

/** Of an operation that cannot be planned. */
const NO_COST = { points: 0, cost: { values: 0 } };

const OPENING_BRACE = 0x7b;
