import type { Service } from '../../graphql/context.ts';

/** Stands for everything that is published, as it is now: the same object for as long as nothing of it has changed. */
export type DataVersion = object;

/**
 * Makes what tells the generation of now: the head, the pairs and the tickers, compared by identity whenever it is asked.
 *
 * Asking beats listening: a reading that becomes too old is published by nobody.
 */
export function createDataVersions({ head, market }: Pick<Service['sources'], 'head' | 'market'>): () => DataVersion {
  let newest = head.current();
  let pairs = market.pairs.current()?.market;
  let tickers = market.tickers.current()?.market;
  let generation: DataVersion = {};

  return () => {
    const newestNow = head.current();
    const pairsNow = market.pairs.current()?.market;
    const tickersNow = market.tickers.current()?.market;
    if (newestNow !== newest || pairsNow !== pairs || tickersNow !== tickers) {
      newest = newestNow;
      pairs = pairsNow;
      tickers = tickersNow;
      generation = {};
    }
    return generation;
  };
}
