import type { IncomingMessage, ServerResponse } from 'node:http';

/** The path that tells that the process lives. */
export const HEALTH_PATH = '/health';

/** Answers 200 while the process lives, whatever its upstreams do: a supervisor restarts what does not answer this. */
export function handleHealth(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end('{"status":"ok"}\n');
}
