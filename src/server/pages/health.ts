import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Service } from '../../graphql/context.ts';
import type { Problem } from '../../live/chain/head-problems.ts';

/** The path of the liveness check. */
export const HEALTH_PATH = '/health';

/** Responds with 200 while the process runs, even if upstreams fail. A supervisor restarts a process that does not respond. */
export function handleHealth(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end('{"status":"ok"}\n');
}

/** The path of the readiness check. */
export const READY_PATH = '/ready';

/** The reason while the gateway closes its connections. */
export const STOPPING: Problem = { code: 'STOPPING', message: 'the gateway is stopping' };

/** Responds with 200 if there is no reason against it, otherwise with 503 and the reasons; and whether the data is simulated. */
export function handleReady(
  reasons: readonly Problem[],
  { isSandbox: sandbox }: Service,
  response: ServerResponse,
): void {
  const isReady = reasons.length === 0;
  response.writeHead(isReady ? 200 : 503, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(
    `${JSON.stringify(isReady ? { status: 'ready', sandbox } : { status: 'not ready', reasons, sandbox })}\n`,
  );
}

/** Why the gateway is not ready for clients: the data of each configured upstream must be fresh. Empty if it is ready. */
export function readinessProblems({ sources: { head, market }, configured }: Service): readonly Problem[] {
  const reasons: Problem[] = [];
  if (configured.has('NODE')) {
    if (head.current() === undefined)
      reasons.push({ code: 'HEAD_NOT_READ', message: 'no beacon height has been read yet' });
    else reasons.push(...head.problems());
  }
  if (configured.has('MARKET_DATA')) {
    const freshness = market.freshness();
    if (freshness === undefined)
      reasons.push({ code: 'MARKET_DATA_NOT_READ', message: 'pairs and tickers have not been read yet' });
    else if (freshness.stale) reasons.push({ code: 'MARKET_DATA_STALE', message: 'pairs and tickers are stale' });
  }
  return reasons;
}
