import { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { AccessLog } from '../access-log.ts';
import type { ClientAddresses } from '../clients/client-address.ts';
import type { ConnectionLimits } from '../clients/connection-limits.ts';
import { handlePreflight, isAllowedOrigin, isPreflight, originNotAllowed } from '../clients/origins.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { Metrics, ResponseSource } from '../metrics/metrics.ts';
import { Account } from '../operations/account.ts';
import { labelOf, type OperationLabel, summarizeRefusal } from '../operations/log-details.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import { isSubscription, type Pipeline, type Prepared, type SentOperation } from '../operations/pipeline.ts';
import { internalError } from '../operations/refusal.ts';
import type { Yoga } from '../yoga/yoga.ts';
import type { DataVersion } from './data-version.ts';
import { type EncodedResponse, encodeResponse } from './encoded-response.ts';
import { LAST_EVENT_ID_HEADER, wantsCost } from './headers.ts';
import { createAcceptedTypes, type JsonType } from './media-types.ts';
import type { HttpExchange } from './open-responses.ts';
import { createRequestCoalescing, type RequestCoalescing } from './request-coalescing.ts';
import type { RequestIds } from './request-id.ts';
import {
  hasInvalidUtf8,
  hasPlainBody,
  readBody,
  readBodyParameters,
  readSearchParameters,
} from './request-parameters.ts';
import type { ResponseCache } from './response-cache.ts';
import type { ResponseWriter } from './response-writer.ts';
import { createWriteBatch } from './write-batch.ts';

/** What the handler of the GraphQL endpoint needs. */
type GraphqlHandlerOptions = {
  readonly yoga: Yoga;
  readonly pipeline: Pipeline;
  readonly persisted: PersistedQueries;
  readonly cache: ResponseCache;
  /** The version of the data that is served now. */
  readonly dataVersion: () => DataVersion;
  readonly writer: ResponseWriter;
  readonly accessLog: Pick<AccessLog, 'isAll'>;
  readonly clients: ClientAddresses;
  readonly rates: RateLimits | undefined;
  readonly connections: ConnectionLimits | undefined;
  readonly metrics: Metrics;
  readonly requestIds: RequestIds;
  readonly maskError: (error: unknown) => GraphQLError;
  /** Origins whose pages may send operations, besides the gateway's own. */
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
};

/** Handles a request to the GraphQL endpoint. */
export type GraphqlHandler = (exchange: HttpExchange) => void;

/** A plain query: one operation, by GET or as a JSON body, whose client accepts JSON. */
type PlainRequest = {
  readonly exchange: HttpExchange;
  readonly account: Account;
  readonly type: JsonType;
  /** The key of the request: its URL, or its body with a character for each byte. */
  readonly text: string;
  /** The body, if it was read. */
  readonly body: Buffer | undefined;
};

/** Longer requests are neither cached nor coalesced: comparing them would take a good part of the time to execute them. */
const MAX_TEXT_LENGTH = 16_384;

/**
 * Creates the handler of the GraphQL endpoint.
 *
 * A plain query is answered from the response cache, shares the execution of an equal request, or goes through the pipeline.
 * Yoga handles all other requests, with the same pipeline.
 */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { yoga, pipeline, persisted, cache, dataVersion, writer, clients, rates, connections } = options;
  const { metrics, requestIds, maskError, corsOrigins, maxBodyBytes } = options;
  const isAllLogged = options.accessLog.isAll;
  const acceptedType = createAcceptedTypes();
  const batch = createWriteBatch();
  const coalescingByType = {
    'application/json': createRequestCoalescing(),
    'application/graphql-response+json': createRequestCoalescing(),
  };

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
      writer.begin(exchange);
      connections.refuse(request, response);
      return;
    }
    const account = new Account(rates, request, 'http');
    const unpaid = method === 'OPTIONS' ? undefined : account.charge(1);
    if (unpaid !== undefined) {
      refuse(exchange, type, unpaid);
      return;
    }
    if (type !== undefined && method === 'GET') {
      respond({ exchange, account, type, text: request.url ?? '', body: undefined });
    } else if (type !== undefined && method === 'POST' && hasPlainBody(request, maxBodyBytes)) {
      readBody(request, (body) => respondToBody(exchange, account, type, body));
    } else {
      exchange.account = account;
      passToYoga(exchange);
    }
  }

  function respondToBody(exchange: HttpExchange, account: Account, type: JsonType, body: Buffer): void {
    // In Latin-1 each byte is one character: texts differ if their bytes differ. A URL begins with a slash, so it equals no body.
    const plain = { exchange, account, type, text: body.toString('latin1'), body };
    if (body[0] === OPENING_BRACE) respond(plain);
    else passPlainToYoga(plain);
  }

  function respond(plain: PlainRequest): void {
    orFail(plain, () => {
      const cached = isCacheable(plain) ? cache.get(plain.text) : undefined;
      if (cached === undefined) return requestIds.run(plain.exchange.id, () => coalesce(plain));
      return sendAgain(plain, cached, 'kept');
    });
  }

  /** Shares the execution of an equal request, if there is one. */
  function coalesce(plain: PlainRequest): MaybePromise<void> {
    const inFlight = coalescingOf(plain)?.inFlight(plain.text, dataVersion());
    if (inFlight === undefined) return execute(plain);
    return inFlight.then((shared) =>
      // The other client may have no points left, or its operation may be a subscription.
      shared === undefined || shared.status === RATE_LIMITED ? execute(plain) : sendAgain(plain, shared, 'shared'),
    );
  }

  function execute(plain: PlainRequest): MaybePromise<void> {
    const { text } = plain;
    const sent = readParameters(plain);
    if (sent === undefined) {
      passPlainToYoga(plain);
      return;
    }
    const coalescing = coalescingOf(plain);
    const version = dataVersion();
    const executing = andThen(pipeline.prepare(sent, clientOf(plain)), (prepared) => {
      if (!isSubscription(prepared)) return runQuery(plain, prepared);
      passPlainToYoga(plain, prepared);
      return undefined;
    });
    if (executing instanceof Promise) coalescing?.share(text, version, executing);
    return andThen(executing, (response) => {
      if (response === undefined) return;
      if (coalescing !== undefined) cache.store(text, response, version);
      metrics.recordResponseSource('executed');
      send(plain, response, 'executed');
    });
  }

  function runQuery({ type, account }: PlainRequest, prepared: Prepared): MaybePromise<EncodedResponse> {
    return andThen(pipeline.run(prepared), (executed) => {
      try {
        return encodeResponse(executed, type, account.paid);
      } catch (error) {
        // The result is too long for a string.
        const result = new WrittenResult(undefined, [maskError(error)]);
        return encodeResponse({ result, dependencies: undefined }, type, account.paid);
      }
    });
  }

  function clientOf({ exchange: { request }, account }: PlainRequest) {
    // A client that also accepts JSON can open an event stream.
    const lastEventId = request.headers[LAST_EVENT_ID_HEADER]?.toString();
    return { address: clients.of(request), account, wantsCost: wantsCost(request), lastEventId };
  }

  function coalescingOf(plain: PlainRequest): RequestCoalescing | undefined {
    return isCacheable(plain) ? coalescingByType[plain.type] : undefined;
  }

  /** Sends the response to an equal request, for the same number of points. */
  function sendAgain(plain: PlainRequest, response: EncodedResponse, source: ResponseSource): void {
    const unpaid = plain.account.charge(response.points);
    if (unpaid !== undefined) {
      refuse(plain.exchange, plain.type, unpaid, labelOfPlain(plain));
      return;
    }
    metrics.recordResponseSource(source);
    send(plain, response, source);
  }

  function send(plain: PlainRequest, response: EncodedResponse, source: ResponseSource): void {
    const { exchange, type } = plain;
    const { errors } = response;
    if (isAllLogged || errors !== undefined) exchange.access = { label: labelOfPlain(plain), errors, from: source };
    batch(() => orFail(plain, () => writer.send(exchange, type, response)));
  }

  function refuse(
    exchange: HttpExchange,
    type: JsonType | undefined,
    error: GraphQLError,
    label: OperationLabel = {},
  ): void {
    exchange.access = { label, errors: summarizeRefusal(error) };
    writer.refuse(exchange, type ?? 'application/json', error);
  }

  /** Responds with an internal error if the work fails. */
  function orFail(plain: PlainRequest, work: () => MaybePromise<void>): void {
    const { exchange, type } = plain;
    const fail = (error: unknown) => {
      // A batch is written in the context of one of its requests: the log names this one.
      const masked = internalError(requestIds.run(exchange.id, () => maskError(error)));
      if (exchange.response.headersSent) exchange.response.destroy();
      else refuse(exchange, type, masked, labelOfPlain(plain));
    };
    try {
      const working = work();
      if (working instanceof Promise) working.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  function passPlainToYoga({ exchange, account, body }: PlainRequest, prepared?: Prepared): void {
    exchange.account = account;
    exchange.prepared = prepared;
    if (body !== undefined) Object.assign(exchange.request, { body: Readable.from([body]) });
    passToYoga(exchange);
  }

  function passToYoga(exchange: HttpExchange): void {
    const { request, response, id } = exchange;
    writer.begin(exchange);
    requestIds.run(id, () => yoga(request, response, { exchange } as never));
  }

  function labelOfPlain(plain: PlainRequest): OperationLabel {
    const sent = readParameters(plain);
    return sent === undefined ? {} : labelOf({ ...sent, query: persisted.find(sent) });
  }

  function readParameters({ exchange: { request }, text, body }: PlainRequest): SentOperation | undefined {
    if (body !== undefined) return readBodyParameters(body, text);
    const { url = '' } = request;
    const start = url.indexOf('?');
    return start < 0 || hasInvalidUtf8(url)
      ? undefined
      : readSearchParameters(new yoga.fetchAPI.URLSearchParams(url.slice(start + 1)));
  }

  return handle;
}

/** Whether the response may be that of an equal request. A response with its cost is for one client only. */
function isCacheable({ text, exchange }: PlainRequest): boolean {
  return text.length <= MAX_TEXT_LENGTH && !wantsCost(exchange.request);
}

const RATE_LIMITED = 429;

const OPENING_BRACE = 0x7b;
