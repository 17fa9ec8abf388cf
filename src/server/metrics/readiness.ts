import type { Service } from '../../graphql/context.ts';
import { type HeadProblem, withCause } from '../../live/chain/head-problems.ts';

/** A reason why the gateway is not ready, for operators: `/ready` lists all of them. */
export type Problem = Pick<HeadProblem, 'message'> & {
  readonly code: HeadProblem['code'] | 'STOPPING' | 'HEAD_NOT_READ' | 'MARKET_DATA_NOT_READ' | 'MARKET_DATA_STALE';
};

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
