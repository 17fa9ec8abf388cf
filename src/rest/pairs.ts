import type { Pair } from '../domain/market.ts';
import { type DocumentOptions, type StartedDocument, writeBody } from './document.ts';
import { createListLoaders, listTexts } from './lists.ts';

/** Starts to write the document of `/pairs`. It rejects with the UpstreamError if pairs cannot be read. */
export function startPairs({ sources, takeTurn }: DocumentOptions): StartedDocument {
  const loaders = createListLoaders(sources);
  const { dependencies } = loaders;
  const { pairs } = sources.market;

  async function write() {
    const { rows } = await loaders.market.pairs.all();
    return {
      ...(await writeBody(listTexts('pairs', rows.values().map(pairText)), takeTurn)),
      rows: rows.length,
      dependencies,
      height: undefined,
      staleSince: () => (pairs.isFailing() ? pairs.newest()?.observedAt : undefined),
    };
  }

  return { dependencies, written: write() };
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
