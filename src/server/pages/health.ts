import type { IncomingMessage, ServerResponse } from 'node:http';
import { versionOf } from '../../domain/exchange.ts';
import type { Service } from '../../graphql/context.ts';
import { withCause } from '../../live/chain/head-problems.ts';
import type { Problem } from '../metrics/readiness.ts';
import { unreadableParts } from '../metrics/source-metrics.ts';

/** The path of the liveness check. */
export const HEALTH_PATH = '/health';

/** Responds with 200 while the process runs, even if upstreams fail. A supervisor restarts a process that does not respond. */
export function handleHealth(_request: IncomingMessage, response: ServerResponse): void {
  sendJson(response, 200, { status: 'ok' });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
}

/** The path of the readiness check. */
export const READY_PATH = '/ready';

/** The reason while the gateway closes its connections. */
export const STOPPING: Problem = { code: 'STOPPING', message: 'the gateway is stopping' };

/** Responds with 200 if there is no reason against it, otherwise with 503 and the reasons. */
export function handleReady(reasons: readonly Problem[], service: Service, response: ServerResponse): void {
  const isReady = reasons.length === 0;
  const notes = notesOf(service);
  const head = service.sources.head.current();
  sendJson(response, isReady ? 200 : 503, {
    status: isReady ? 'ready' : 'not ready',
    ...(!isReady && { reasons }),
    ...(notes.length > 0 && { notes }),
    ...(service.fleet && { replicas: service.fleet().replicas }),
    ...(head && { exchangeVersion: versionOf(head.exchange) }),
    sandbox: service.isSandbox,
  });
}

/**
 * What operators may want to know although the gateway is ready. It never contains an address.
 *
 * A node that does not push its blocks is polled, so the data is as fresh as without push. A database that fails takes only the
 * history away. Without the token service, its last list is served. Of market data, what can be read is served.
 */
function notesOf({ sources, fleet }: Service) {
  const { nodes, pushes, history, tokens } = sources;
  const { pairs, tickers, orderbook: entries } = unreadableParts(sources);
  const failing = pushes.filter(({ status }) => status().isFailing).length;
  const { state } = history.status();
  const failures = nodes.status().flatMap(({ failure }) => failure ?? []);
  const messages = {
    NODES_FAILING:
      failures.length > 0 &&
      nodes.status().length > 1 &&
      withCause(`${failures.length} of ${nodes.status().length} nodes cannot be read`, failures[0]),
    PUSH_FAILING:
      failing > 0 &&
      `${failing} of ${pushes.length} websockets of nodes do not push new blocks: the gateway polls instead`,
    HISTORY_FAILING:
      (state === 'failing' || state === 'refused') && 'the database of the recorded history cannot be used',
    FLEET_ALONE:
      fleet?.().isConnected === false &&
      'Redis cannot be used, or has the fleet of another chain: the gateway reads the upstreams itself',
    MARKET_DATA_UNREADABLE:
      pairs + tickers + entries > 0 &&
      `parts of market data cannot be read and are left out: ${pairs} of the pairs, ${tickers} of the tickers, ${entries} entries of order books; the log has examples`,
    TOKENS_FAILING: tokens.status?.isFailing() && 'the token service cannot be read: the last token list is served',
  };
  return Object.entries(messages).flatMap(([code, message]) => (message ? [{ code, message }] : []));
}
