import type { IncomingMessage, ServerResponse } from 'node:http';

/** The path of the liveness check. */
export const HEALTH_PATH = '/health';

/** Responds with 200 while the process runs, even if upstreams fail. A supervisor restarts a process that does not respond. */
export function handleHealth(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end('{"status":"ok"}\n');
}
