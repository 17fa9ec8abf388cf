import type { IncomingMessage, ServerResponse } from 'node:http';
import { printSchema } from 'graphql';
import type { Service } from '../../graphql/context.ts';
import { schema } from '../../graphql/schema.ts';
import type { AccessLog } from '../access-log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { readinessProblems } from '../metrics/readiness.ts';
import { type BuiltExplorer, createExplorer } from '../pages/explorer-files.ts';
import { createFile, type Respond, TEXT } from '../pages/file-response.ts';
import { handleGraphiql } from '../pages/graphiql.ts';
import { HEALTH_PATH, handleHealth, handleReady, READY_PATH, STOPPING } from '../pages/health.ts';
import { createIndex, INDEX_PATH, SCHEMA_PATH } from '../pages/index-page.ts';
import { commonHeaders, METHODS, READ_METHODS } from '../requests/headers.ts';
import {
  GRAPHQL_PATH,
  isNavigation,
  isRead,
  NOWHERE,
  normalizeTarget,
  pathOf,
  type Route,
} from '../requests/http-exchange.ts';
import { internalError, toRefusedResponse } from '../requests/refusal.ts';
import type { EndpointOptions } from '../transport-options.ts';
import type { OpenResponses } from './open-responses.ts';
import type { RestRoutes } from './rest.ts';

const METRICS_PATH = '/metrics';

/** What the pages for operators need: /health, /ready and /metrics. */
export type AdminPagesOptions = Pick<EndpointOptions, 'metrics' | 'requestIds' | 'maskError'> & {
  readonly service: Service;
  readonly accessLog: AccessLog;
  readonly isStopping: () => boolean;
};

type RoutesOptions = AdminPagesOptions & {
  /** What clients request; `undefined` on the admin port. */
  readonly forClients?: ClientRoutes;
  readonly hasAdminPages: boolean;
  readonly responses: OpenResponses;
};

/** What the routes for clients need. */
export type ClientRoutes = {
  readonly graphqlHandler: Route['handle'];
  /** The REST API; `undefined` if it is off. */
  readonly rest: RestRoutes | undefined;
  readonly explorer: BuiltExplorer;
  readonly graphiql: boolean;
};

/** Creates the handler of requests by their paths. For a path without a route, it calls `next` if there is one, else responds with 404. */
export function createRoutes(options: RoutesOptions) {
  const { forClients, hasAdminPages, responses, service, metrics, requestIds, maskError, isStopping } = options;
  const { rest, explorer: built = 'off' } = forClients ?? {};
  const graphiql = createRoute('graphiql', handleGraphiql);
  const routes: ReadonlyMap<string, Route> = new Map([
    ...(forClients === undefined ? [] : clientRoutes(forClients)),
    ...(hasAdminPages ? adminRoutes() : []),
    ...(rest?.routes ?? []),
  ]);
  const explorer = typeof built === 'string' ? undefined : createExplorer(built, service);
  const explorerPage = explorer && createRoute('explorer', explorer.page);
  const graphql = routes.get(GRAPHQL_PATH);
  const invalidHost = createRoute('unreadable', plainText(400, 'The Host header of this request is invalid.\n'));
  const hint = graphql ? `The GraphQL endpoint is ${GRAPHQL_PATH}.` : `This port has ${[...routes.keys()].join(', ')}.`;
  const notFound = createPassedOn(NOWHERE, plainText(404, `Not found. ${hint}\n`));
  const methods = createPassedOn(NOWHERE, (_request, response) => {
    response.writeHead(204, { allow: METHODS }).end();
  });
  const indexMethods = createPassedOn('index', handleOtherMethod);
  const { noteRequest } = options.accessLog;

  /** Responds to a request that does not read a page with the methods of the page. */
  function handleOtherMethod({ method }: IncomingMessage, response: ServerResponse): void {
    const isOptions = method === 'OPTIONS';
    response.writeHead(isOptions ? 204 : 405, { allow: READ_METHODS, 'content-type': TEXT });
    response.end(isOptions ? '' : `Send a GET, HEAD or OPTIONS request. ${hint}\n`);
  }

  function clientRoutes(clients: ClientRoutes): [string, Route][] {
    const index = createIndex({ ...service, ...clients, hasAdminPages, restBase: rest?.base });
    return [
      [GRAPHQL_PATH, { endpoint: 'graphql', handle: clients.graphqlHandler }],
      [INDEX_PATH, createRoute('index', index)],
      [SCHEMA_PATH, createPage('schema', handleSchema)],
    ];
  }

  function adminRoutes(): [string, Route][] {
    const ready = createPage('ready', (_request, response) =>
      handleReady(isStopping() ? [STOPPING] : readinessProblems(service), service, response),
    );
    return [
      [HEALTH_PATH, createPage('health', handleHealth)],
      [READY_PATH, ready],
      [METRICS_PATH, createPage('metrics', (_request, response) => handleMetrics(metrics, response))],
    ];
  }

  /** A route with the headers that all responses outside of the GraphQL endpoint have. */
  function createRoute(endpoint: string, handle: Respond): Route {
    return {
      endpoint,
      handle(exchange) {
        const { request, response, id } = exchange;
        const headers = commonHeaders(id, service.isSandbox, responses.isLast(request));
        for (const [name, value] of headers) response.setHeader(name, value);
        responses.track(exchange);
        requestIds.run(id, async () => {
          try {
            await handle(request, response);
          } catch (error) {
            fail(response, error);
          }
        });
      },
    };
  }

  /** A route that is only read. */
  function createPage(endpoint: string, handle: Respond): Route {
    return createRoute(endpoint, (request, response) =>
      isRead(request) ? handle(request, response) : handleOtherMethod(request, response),
    );
  }

  /** A route of requests that another server may handle itself, such as `POST /`. */
  function createPassedOn(endpoint: string, handle: Respond): Route {
    return { ...createRoute(endpoint, handle), isPassedOn: true };
  }

  function fail(response: ServerResponse, error: unknown): void {
    const internal = internalError(maskError(error));
    metrics.recordErrors([internal]);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const { status, headers, body } = toRefusedResponse(internal);
    response.writeHead(status, headers).end(body);
  }

  function routeOf(request: IncomingMessage): Route {
    if (!isValidHost(request.headers.host)) return invalidHost;
    const path = pathOf(request);
    if (path === '*' && request.method === 'OPTIONS') return methods;
    if (path === INDEX_PATH && graphql && !isRead(request)) return indexMethods;
    if (path === INDEX_PATH && explorerPage && isNavigation(request)) return explorerPage;
    const route = routes.get(path) ?? rest?.at(path) ?? explorerRoute(request, path) ?? notFound;
    return route === graphql && forClients?.graphiql && isNavigation(request) ? graphiql : route;
  }

  /** The route of a page or a file of the explorer, or of a page that a browser opens and that does not exist. */
  function explorerRoute(request: IncomingMessage, path: string): Route | undefined {
    if (explorer === undefined || !isRead(request)) return undefined;
    const respond = explorer.at(path);
    if (respond) return createRoute('explorer', respond);
    const respondNotFound = isNavigation(request) ? explorer.notFoundAt(path) : undefined;
    return respondNotFound && createPassedOn(NOWHERE, respondNotFound);
  }

  return (request: IncomingMessage, response: ServerResponse, next?: () => void): void => {
    const startedAt = performance.now();
    const { url, headers } = request;
    const { host } = headers;
    normalizeTarget(request);
    const { endpoint, isPassedOn, handle } = routeOf(request);
    if (next !== undefined && isPassedOn) {
      Object.assign(request, { url });
      Object.assign(headers, { host });
      next();
      return;
    }
    const id = requestIds.of(request);
    const sentBefore = noteRequest?.(request, id);
    handle({ request, response, id, startedAt, endpoint, sentBefore });
  };
}

function plainText(status: number, text: string): Respond {
  return (_request, response) => response.writeHead(status, { 'content-type': TEXT }).end(text);
}

/** Whether a URL can be made of a `Host`, as handlers do. */
function isValidHost(host: string | undefined): boolean {
  return host === undefined || URL.canParse(`http://${host}`);
}

async function handleMetrics(metrics: Metrics, response: ServerResponse): Promise<void> {
  const text = await metrics.text();
  response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' });
  response.end(text);
}

let schemaFile: Respond | undefined;

/** Responds with the schema as plain text, which browsers display: schemas have no registered media type. */
function handleSchema(request: IncomingMessage, response: ServerResponse): void {
  schemaFile ??= createFile(TEXT, `${printSchema(schema)}\n`);
  schemaFile(request, response);
}
