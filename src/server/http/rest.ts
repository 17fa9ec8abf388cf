import type { GraphQLError } from 'graphql';
import { createEtag } from '../../domain/entity-tag.ts';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import { percentDecoded } from '../../domain/percent-encoding.ts';
import { BadUserInputError, GatewayError, UpstreamError } from '../../errors.ts';
import { complexityOfList, ORDER_BOOK, recordedObjects } from '../../graphql/complexity.ts';
import type { DocumentOptions, ServedDocument } from '../../rest/document.ts';
import { createOpenApi } from '../../rest/openapi.ts';
import {
  readCandlesParameters,
  readHistoryParameters,
  readOrderBookParameters,
  readSearchParameters,
  readSymbolParameter,
  readTradesParameters,
} from '../../rest/parameters.ts';
import { createRestApi, OPEN_API_PATH, REST_PREFIX, restPaths, UDF_PREFIX } from '../../rest/rest-api.ts';
import { UDF_CONFIG } from '../../rest/udf.ts';
import type { Requester } from '../../turns/fair-queue.ts';
import { Account } from '../clients/rate-limits.ts';
import { MAX_ACCEPT_LENGTH, MIN_HEIGHT_HEADER } from '../requests/headers.ts';
import { type HttpExchange, isRead, NOWHERE, type Route } from '../requests/http-exchange.ts';
import { hasInvalidUtf8, searchOf } from '../requests/parameters.ts';
import { createRestWriter, type FixedDocument, type RestWriterOptions } from './rest-writer.ts';

/** The routes of the REST API. */
export type RestRoutes = ReturnType<typeof createRestRoutes>;

/** What the routes need. */
export type RestOptions = RestWriterOptions &
  DocumentOptions & {
    /** The segment of the paths that names the partner. */
    readonly marketDataPartner: string;
    readonly version: string;
    /** Maximum number of candles in a document. */
    readonly maxCandles: number;
  };

/** A request that was admitted. */
type RestRequest = { readonly exchange: HttpExchange; readonly account: Account };

/** Creates the routes of the REST API. */
export function createRestRoutes(options: RestOptions) {
  const { marketDataPartner: partner, version, maxCandles, minimumHeights, clients, rates, connections } = options;
  const { requestIds, maskError, isSandbox, now } = options;
  const writer = createRestWriter(options);
  const api = createRestApi(options, maxCandles);
  const paths = restPaths(partner);
  let openApi: FixedDocument | undefined;
  const readCandles = (parameters: URLSearchParams, accept: string | undefined) =>
    readCandlesParameters(parameters, accept, maxCandles);
  const readHistory = (parameters: URLSearchParams) => readHistoryParameters(parameters, maxCandles);
  const udfConfig = fixedDocument(JSON.stringify(UDF_CONFIG));

  const routes: ReadonlyMap<string, Route> = new Map([
    [paths.pairs, { endpoint: 'pairs', handle: respondWith(() => api.pairs()) }],
    [paths.tickers, { endpoint: 'tickers', handle: respondWith(() => api.tickers()) }],
    [paths.orderBook, { endpoint: 'orderbook', handle: respondWith(readOrderBook) }],
    [paths.candles, { endpoint: 'candles', handle: respondWithRecorded(readCandles, api.candles) }],
    [paths.trades, { endpoint: 'trades', handle: respondWithRecorded(readTradesParameters, api.trades) }],
    [`${UDF_PREFIX}config`, udf((exchange) => admit(exchange, () => writer.sendFixed(exchange, udfConfig)))],
    [`${UDF_PREFIX}time`, udf((exchange) => admit(exchange, () => writer.sendTime(exchange, now())))],
    [
      `${UDF_PREFIX}symbols`,
      udf(respondWith((sent) => api.udf.symbol({ symbol: readSymbolParameter(parametersOf(sent)) }))),
    ],
    [`${UDF_PREFIX}search`, udf(respondWith((sent) => api.udf.search(readSearchParameters(parametersOf(sent)))))],
    [`${UDF_PREFIX}history`, udf(respondWithRecorded(readHistory, api.udf.history))],
    [OPEN_API_PATH, { endpoint: 'openapi', handle: (exchange) => admit(exchange, () => sendOpenApi(exchange)) }],
  ]);

  /** @param read reads the document that a request names, or throws the error that the client gets */
  function respondWith(read: (request: RestRequest) => MaybePromise<ServedDocument>): Route['handle'] {
    return (exchange) =>
      admit(exchange, (account) => {
        const sent = { exchange, account };
        const { request, response, startedAt: receivedAt } = exchange;
        const client = { address: clients.of(request), connection: response, receivedAt };
        const minimum = request.headers[MIN_HEIGHT_HEADER];
        const sending = andThen(minimumHeights.reach(minimum, MIN_HEIGHT_HEADER, client), (refused) => {
          throwIfRefused(refused);
          return andThen(read(sent), (served) => sendPaid(sent, served));
        });
        if (sending instanceof Promise) sending.catch(failing(exchange));
      });
  }

  /** Refuses a request of an address over a limit or with another method, and charges one point. */
  function admit(exchange: HttpExchange, next: (account: Account) => void): void {
    const { request, response } = exchange;
    try {
      throwIfRefused(connections?.admit(request, response));
      if (request.method === 'OPTIONS') {
        writer.sendMethods(exchange);
        return;
      }
      const account = new Account(rates, request, 'http');
      throwIfRefused(account.chargeUpTo(1));
      if (!isRead(request)) throw new GatewayError('METHOD_NOT_ALLOWED', 'Send a GET, HEAD or OPTIONS request.');
      next(account);
    } catch (error) {
      failing(exchange)(error);
    }
  }

  /** Sends a document. A list costs as many points as in an operation. */
  function sendPaid({ exchange, account }: RestRequest, { document, from }: ServedDocument): void {
    const points = Math.max(account.paid, 1, complexityOfList(document.rows).field);
    throwIfRefused(account.chargeUpTo(points));
    writer.send(exchange, document, { from, height: document.height, cost: points });
  }

  function requesterOf({ exchange }: RestRequest): Requester {
    return { client: clients.of(exchange.request) };
  }

  /** An order book is charged before it is read, because that can cause a call to the market-data host. */
  function readOrderBook(sent: RestRequest): MaybePromise<ServedDocument> {
    const book = readOrderBookParameters(parametersOf(sent));
    throwIfRefused(sent.account.chargeUpTo(ORDER_BOOK));
    return api.orderBook(book, requesterOf(sent));
  }

  /** Responds with objects of the history, which cost as much as in an operation. */
  function respondWithRecorded<Parsed extends { readonly last: number }>(
    read: (parameters: URLSearchParams, accept: string | undefined) => Parsed,
    write: (parsed: Parsed, requester: Requester) => MaybePromise<ServedDocument>,
  ): Route['handle'] {
    return respondWith((sent) => {
      const accept = sent.exchange.request.headers.accept?.slice(0, MAX_ACCEPT_LENGTH);
      const parsed = read(parametersOf(sent), accept);
      throwIfRefused(sent.account.chargeUpTo(recordedObjects(parsed.last).field));
      return write(parsed, requesterOf(sent));
    });
  }

  function sendOpenApi(exchange: HttpExchange): void {
    openApi ??= fixedDocument(`${JSON.stringify(createOpenApi({ paths, version, isSandbox, maxCandles }), null, 2)}\n`);
    writer.sendFixed(exchange, openApi);
  }

  function throwNotFound(): never {
    const message = `This path does not exist. ${OPEN_API_PATH} describes the paths of this gateway.`;
    throw new GatewayError('NOT_FOUND', message);
  }

  function failing(exchange: HttpExchange): (error: unknown) => void {
    return (error) => {
      const isRetryable = error instanceof GatewayError && error.retryable;
      const retryMs = (error instanceof UpstreamError && error.retryAfterMs) || 0;
      requestIds.run(exchange.id, () => writer.fail(exchange, maskError(error), isRetryable ? retryMs : undefined));
    };
  }

  return {
    /** How the paths of the documents begin. */
    base: paths.base,
    /** By their exact paths. */
    routes,
    /**
     * The route of any other path; `undefined` if it does not begin like those of the API. It is that of the decoded path without
     * a slash at its end, or one that responds with 404.
     */
    at(path: string): Route | undefined {
      if (![REST_PREFIX, UDF_PREFIX].some((prefix) => `${path}/`.startsWith(prefix))) return undefined;
      const route = routes.get(percentDecoded(path).replace(/\/$/, ''));
      return route ?? { endpoint: NOWHERE, isPassedOn: true, handle: (exchange) => admit(exchange, throwNotFound) };
    },
  };
}

function fixedDocument(text: string): FixedDocument {
  const body = Buffer.from(text);
  return { body, etag: createEtag('application/json', body) };
}

function udf(handle: Route['handle']): Route {
  return { endpoint: 'udf', handle };
}

/** @throws BadUserInputError if they are not UTF-8 */
function parametersOf({ exchange }: RestRequest): URLSearchParams {
  const { url = '' } = exchange.request;
  if (hasInvalidUtf8(url)) throw new BadUserInputError('The URL is not UTF-8.');
  return searchOf(url);
}

function throwIfRefused(error: GraphQLError | undefined): void {
  if (error !== undefined) throw error;
}
