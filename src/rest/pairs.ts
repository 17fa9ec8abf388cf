import type { Pair } from '../domain/market.ts';
import type { Loaders } from '../loaders/loaders.ts';
import { listTexts, type Written } from './document.ts';

/** Writes `/pairs`. @throws UpstreamError */
export async function writePairs({ market, sources }: Loaders): Promise<Written> {
  const { rows } = await market.pairs.all();
  const { pairs } = sources.market;
  return {
    texts: listTexts('pairs', rows.values().map(pairText)),
    rows: rows.length,
    staleSince: () => (pairs.isFailing() ? pairs.newest()?.observedAt : undefined),
  };
}

function pairText({ tickerId, baseId, base, targetId, target, poolId }: Pair): string {
  return JSON.stringify({
    ticker_id: tickerId,
    base_id: baseId,
    base,
    target_id: targetId,
    target,
    pool_id: poolId,
  });
}
