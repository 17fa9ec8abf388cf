import type { ServerResponse } from 'node:http';
import type { Service } from '../graphql/context.ts';

/** The path that tells whether clients should be sent here. */
export const READY_PATH = '/ready';

/** Answers 200 while every configured upstream is served fresh, else 503 with the reasons. */
export function answerReady(reasons: readonly string[], response: ServerResponse): void {
  const isReady = reasons.length === 0;
  response.writeHead(isReady ? 200 : 503, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(isReady ? { status: 'ready' } : { status: 'not ready', reasons })}\n`);
}

/** Why clients should not be sent here; empty where they should. */
export function reasonsNotReady({ sources: { head, market }, configured }: Service): string[] {
  const reasons: string[] = [];
  if (configured.has('NODE')) {
    if (head.current() === undefined) reasons.push('no beacon height has been read yet');
    else if (head.isStale()) reasons.push('the newest beacon height is stale');
  }
  if (configured.has('MARKET_DATA')) {
    const freshness = market.freshness();
    if (freshness === undefined) reasons.push('pairs and tickers have not been read yet');
    else if (freshness.stale) reasons.push('pairs and tickers are stale');
  }
  return reasons;
}
