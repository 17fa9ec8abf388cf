import type { Head } from '../live/head.ts';
import type { Asker } from '../upstream/fair-queue.ts';
import { type Basis, createBasis } from './basis.ts';
import { createExchangeLoader, type ExchangeLoader } from './exchange.ts';
import { createMarketLoader, type MarketLoader } from './market.ts';
import { createOrderBookLoader, type OrderBookLoader } from './order-book.ts';
import { createHeadPin, type HeadPin } from './pin.ts';
import type { Sources } from './sources.ts';
import { createTokenLoader, type TokenLoader } from './token.ts';

/** Everything that one answer is made from. It describes one beacon height: the first that any of its fields asks for. */
export type Loaders = {
  /** What the answer rests on, as far as it was read. */
  readonly basis: Basis;
  readonly head: HeadPin;
  readonly exchange: ExchangeLoader;
  readonly market: MarketLoader;
  readonly orderBooks: OrderBookLoader;
  readonly tokens: TokenLoader;
};

/** What loaders must not go beyond, and in whose turn they ask the upstreams. */
export type LoaderOptions = { readonly maxPageSize: number; readonly asker: Asker };

/**
 * Makes the loaders of one answer, for the head given or else for the one that is current when it is first needed.
 *
 * Each is made when it is first asked for: most answers are made from one or two of them.
 */
export function createLoaders(sources: Sources, options: LoaderOptions, pinned?: Head): Loaders {
  const basis = createBasis();
  const head = createHeadPin(sources.head, basis, pinned);
  let market: MarketLoader | undefined;
  let tokens: TokenLoader | undefined;
  let exchange: ExchangeLoader | undefined;
  let orderBooks: OrderBookLoader | undefined;

  const loaders: Loaders = {
    basis,
    head,
    get market() {
      market ??= createMarketLoader(sources.market, basis);
      return market;
    },
    get tokens() {
      tokens ??= createTokenLoader(sources.tokens, head, loaders.market);
      return tokens;
    },
    get exchange() {
      const { pastStates, poolLists } = sources;
      exchange ??= createExchangeLoader({ head, pastStates, poolLists, tokens: loaders.tokens, ...options });
      return exchange;
    },
    get orderBooks() {
      orderBooks ??= createOrderBookLoader(sources.orderBooks, basis, options.asker);
      return orderBooks;
    },
  };
  return loaders;
}
