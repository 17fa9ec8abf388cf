import type { Head } from '../live/head.ts';
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

/** What loaders must not go beyond. */
export type LoaderLimits = { readonly maxPageSize: number };

/** Makes the loaders of one answer, for the head given or else for the one that is current when it is first needed. */
export function createLoaders(sources: Sources, limits: LoaderLimits, pinned?: Head): Loaders {
  const basis = createBasis();
  const head = createHeadPin(sources.head, basis, pinned);
  const market = createMarketLoader(sources.market, basis);
  const tokens = createTokenLoader(sources.tokens, head, market);
  const exchange = createExchangeLoader({ head, pastStates: sources.pastStates, tokens, ...limits });
  const orderBooks = createOrderBookLoader(sources.orderBooks, basis);

  return { basis, head, exchange, market, orderBooks, tokens };
}
