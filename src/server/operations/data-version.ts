import type { Service } from '../../graphql/context.ts';

/** The version of all published data: the same object until something is published. */
export type DataVersion = object;

/**
 * Creates the function that returns the current version. It compares the head, the pairs, the tickers and the token list by
 * identity each time that it is called. Notifications would not do, because data that becomes too old is not published.
 */
export function createDataVersion({
  head,
  market,
  tokens,
}: Pick<Service['sources'], 'head' | 'market' | 'tokens'>): () => DataVersion {
  let knownHead = head.current();
  let knownPairs = market.pairs.current()?.market;
  let knownTickers = market.tickers.current()?.market;
  let knownTokens = tokens.current();
  let version: DataVersion = {};

  return () => {
    const newest = head.current();
    const pairs = market.pairs.current()?.market;
    const tickers = market.tickers.current()?.market;
    const list = tokens.current();
    if (newest !== knownHead || pairs !== knownPairs || tickers !== knownTickers || list !== knownTokens) {
      knownHead = newest;
      knownPairs = pairs;
      knownTickers = tickers;
      knownTokens = list;
      version = {};
    }
    return version;
  };
}
