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
  const read = () => [
    head.current(),
    market.pairs.current()?.market,
    market.tickers.current()?.market,
    tokens.current(),
  ];
  let version = read();

  return () => {
    const current = read();
    if (current.some((value, index) => value !== version[index])) version = current;
    return version;
  };
}
