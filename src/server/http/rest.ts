import { BadUserInputError, MethodNotAllowedError, NotFoundError } from '../../errors.ts';
import { listOf } from '../../graphql/complexity.ts';
import { ORDER_BOOK } from '../../graphql/limits.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { percentDecoded } from '../../percent-encoding.ts';
import type { RestDocument } from '../../rest/document.ts';
import { createOpenApi } from '../../rest/openapi.ts';
import { readOrderBookParameters } from '../../rest/parameters.ts';
import { OPEN_API_PATH, REST_PREFIX, restBase, restPaths } from '../../rest/paths.ts';
import type { RestApi } from '../../rest/rest-api.ts';
import type { ResponseSource } from '../metrics/metrics.ts';
import { Account } from '../operations/account.ts';
import type { EndpointOptions } from '../transport-options.ts';
import { MIN_HEIGHT_HEADER } from './headers.ts';
import { createEtag } from './http-caching.ts';
import type { HttpExchange } from './open-responses.ts';
import { hasInvalidUtf8 } from './request-parameters.ts';
import { createRestWriter, type RestWriterOptions } from './rest-writer.ts';
import { createWriteBatch } from './write-batch.ts';

/** Handles the requests to one path. `endpoint` is its name in the metrics. */
export type Route = { readonly endpoint: string; handle(exchange: HttpExchange): void };

/** The routes of the REST API. */
export type RestRoutes = {
  /** How the paths of the documents begin. */
  readonly base: string;
  /** By their exact paths. */
  readonly routes: ReadonlyMap<string, Route>;
  /**
   * The route of any other path that begins like those of the API: that of the path without a slash at its end and
   * percent-encoded characters, or one that responds with 404.
   */
  at(path: string): Route | undefined;
};

/** The name of all paths without a route in the metrics. */
export const NOWHERE = 'nowhere';

/** What the routes need. */
type RestOptions = EndpointOptions &
  RestWriterOptions & {
    readonly api: RestApi;
    /** The path segment of the partner. */
    readonly partner: string;
    readonly version: string;
  };

/** A request that was admitted. */
type RestRequest = { readonly exchange: HttpExchange; readonly account: Account };

/** Creates the routes of the REST API. */
export function createRestRoutes(options: RestOptions): RestRoutes {
  const { api, partner, version, minimumHeights, clients, rates, connections } = options;
  const { requestIds, maskError, isSandbox } = options;
  const writer = createRestWriter(options);
  const batch = createWriteBatch();
  const paths = restPaths(partner);
  let openApi: Pick<RestDocument, 'body' | 'etag'> | undefined;

  const routes: ReadonlyMap<string, Route> = new Map([
    [paths.pairs, { endpoint: 'pairs', handle: respondWith(() => api.pairs()) }],
    [paths.tickers, { endpoint: 'tickers', handle: respondWith(() => api.tickers()) }],
    [paths.orderBook, { endpoint: 'orderbook', handle: respondWith(readOrderBook) }],
    [OPEN_API_PATH, { endpoint: 'openapi', handle: (exchange) => admit(exchange, () => sendOpenApi(exchange)) }],
  ]);

  /** @param read reads the document that a request names, or throws the error that the client gets */
  function respondWith(read: (request: RestRequest) => MaybePromise<RestDocument>): Route['handle'] {
    return (exchange) =>
      admit(exchange, (account) => {
        const sent = { exchange, account };
        const { request, response, startedAt: receivedAt } = exchange;
        const client = { address: clients.of(request), connection: response, receivedAt };
        const minimum = request.headers[MIN_HEIGHT_HEADER];
        const document = andThen(minimumHeights.reachSent(minimum, MIN_HEIGHT_HEADER, client), (refused) => {
          if (refused !== undefined) throw refused;
          return read(sent);
        });
        if (!(document instanceof Promise)) sendPaid(sent, document, 'kept');
        else document.then((written) => sendPaid(sent, written, 'executed')).catch(failing(exchange));
      });
  }

  /** Refuses a request of an address over a limit or with another method, and charges one point. */
  function admit(exchange: HttpExchange, next: (account: Account) => void): void {
    const { request, response } = exchange;
    try {
      if (connections?.admit(request, response) === false) throw connections.refusal;
      if (request.method === 'OPTIONS') {
        writer.sendMethods(exchange);
        return;
      }
      const account = new Account(rates, request, 'http');
      pay(account, 1);
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new MethodNotAllowedError('Send a GET, HEAD or OPTIONS request.');
      next(account);
    } catch (error) {
      failing(exchange)(error);
    }
  }

  /** Sends a document. A list costs as many points as in an operation. */
  function sendPaid({ exchange, account }: RestRequest, document: RestDocument, from: ResponseSource): void {
    const points = Math.max(account.paid, 1, listOf(document.rows).field);
    pay(account, points);
    exchange.access = { from, height: document.height, cost: points };
    batch(() => {
      try {
        writer.send(exchange, document);
      } catch (error) {
        failing(exchange)(error);
      }
    });
  }

  /** An order book is charged before it is read, because that can cause a call to the market-data host. */
  async function readOrderBook({ exchange: { request }, account }: RestRequest): Promise<RestDocument> {
    const { url = '' } = request;
    if (hasInvalidUtf8(url)) throw new BadUserInputError('The URL is not UTF-8.');
    const start = url.indexOf('?');
    const book = readOrderBookParameters(new URLSearchParams(start < 0 ? '' : url.slice(start + 1)));
    pay(account, ORDER_BOOK);
    const document = await api.orderBook(book, { client: clients.of(request) });
    if (document === undefined) throw new NotFoundError(`Ticker ${JSON.stringify(book.tickerId)} does not exist.`);
    return document;
  }

  function sendOpenApi(exchange: HttpExchange): void {
    if (openApi === undefined) {
      const body = Buffer.from(`${JSON.stringify(createOpenApi({ paths, version, isSandbox }), null, 2)}\n`);
      openApi = { body, etag: createEtag('application/json', body) };
    }
    writer.sendFixed(exchange, openApi);
  }

  function failing(exchange: HttpExchange): (error: unknown) => void {
    return (error) => requestIds.run(exchange.id, () => writer.fail(exchange, maskError(error)));
  }

  function sendNotFound(exchange: HttpExchange): void {
    admit(exchange, () => {
      throw new NotFoundError(`This path does not exist. ${OPEN_API_PATH} describes the paths of this gateway.`);
    });
  }

  return {
    base: restBase(partner),
    routes,
    at(path) {
      if (!path.startsWith(REST_PREFIX)) return undefined;
      const route = routes.get(percentDecoded(path).replace(/\/$/, ''));
      return route ?? { endpoint: NOWHERE, handle: sendNotFound };
    },
  };
}

/** @throws the error of a client that has too few points */
function pay(account: Account, points: number): void {
  const unpaid = account.charge(points);
  if (unpaid !== undefined) throw unpaid;
}
