import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { answerHealth, HEALTH_PATH } from './health.ts';
import { GRAPHQL_PATH, type Yoga } from './yoga.ts';

type Door = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Makes the HTTP server: each path leads to one door, and no other path leads anywhere. */
export function createHttpServer(yoga: Yoga): Server {
  const doors: ReadonlyMap<string, Door> = new Map<string, Door>([
    [GRAPHQL_PATH, yoga],
    [HEALTH_PATH, answerHealth],
  ]);
  return createServer((request, response) => {
    const door = doors.get(pathOf(request)) ?? answerNotFound;
    door(request, response);
  });
}

/** The exact path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function answerNotFound(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`Nothing is here. GraphQL is at ${GRAPHQL_PATH}.\n`);
}
