import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Service } from '../../graphql/context.ts';
import { type Problem, withCause } from '../../live/chain/head-problems.ts';
import { unreadableRows } from '../../live/market/lists.ts';
import type { Sources } from '../../loaders/sources.ts';

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

/**
 * Responds with 200 if there is no reason against it, otherwise with 503 and the reasons; with notes, if there are any; with
 * the number of gateways in the fleet; and whether the data is simulated.
 */
export function handleReady(reasons: readonly Problem[], service: Service, response: ServerResponse): void {
  const isReady = reasons.length === 0;
  const notes = notesOf(service);
  const { isSandbox: sandbox } = service;
  const body = {
    status: isReady ? 'ready' : 'not ready',
    ...(!isReady && { reasons }),
    ...(notes.length > 0 && { notes }),
    ...(service.fleet && { replicas: service.fleet().replicas }),
    sandbox,
  };
  response.writeHead(isReady ? 200 : 503, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
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
    TOKENS_FAILING: tokens.service?.isFailing() && 'the token service cannot be read: the last token list is served',
  };
  return Object.entries(messages).flatMap(([code, message]) => (message ? [{ code, message }] : []));
}

/** How much of the market data could not be read, by endpoint: rows of the lists, and entries of order books. */
export function unreadableParts({ market, orderBooks }: Pick<Sources, 'market' | 'orderBooks'>) {
  return {
    pairs: unreadableRows(market.pairs),
    tickers: unreadableRows(market.tickers),
    orderbook: orderBooks.unreadableEntries(),
  };
}

/** Why the gateway is not ready for clients: the data of each configured upstream must be fresh. Empty if it is ready. */
export function readinessProblems({ sources: { head, market }, configured }: Service): readonly Problem[] {
  const reasons: Problem[] = [];
  if (configured.NODE) {
    if (head.current() === undefined)
      reasons.push({
        code: 'HEAD_NOT_READ',
        message: withCause('no beacon height has been read yet', head.failure()),
      });
    else reasons.push(...head.problems());
  }
  if (configured.MARKET_DATA) {
    const freshness = market.freshness();
    const failure = market.pairs.failure() ?? market.tickers.failure();
    const push = (code: Problem['code'], message: string) =>
      reasons.push({ code, message: withCause(message, failure) });
    if (freshness === undefined) push('MARKET_DATA_NOT_READ', 'pairs and tickers have not been read yet');
    else if (freshness.stale) push('MARKET_DATA_STALE', 'pairs and tickers are stale');
  }
  return reasons;
}
