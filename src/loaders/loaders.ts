import type { Head } from '../live/chain/head.ts';
import { createDependencies, type Dependencies } from './dependencies.ts';
import { createExchangeLoader, type ExchangeLoader } from './exchange.ts';
import { createHeadPin, type HeadPin } from './head-pin.ts';
import { createMarketLoader, type MarketLoader } from './market.ts';
import { createOrderBookLoader, type OrderBookLoader } from './order-book.ts';
import { createSourceStreams, type SourceStreams, type SourceStreamsOptions } from './source-streams.ts';
import type { Sources } from './sources.ts';
import { createTokenLoader, type TokenLoader } from './token.ts';

/** Everything that one answer is made from. It describes one beacon height: the first that any of its fields asks for. */
export type Loaders = {
  /** What the answer rests on, as far as it was read. */
  readonly dependencies: Dependencies;
  readonly head: HeadPin;
  readonly exchange: ExchangeLoader;
  readonly market: MarketLoader;
  readonly orderBooks: OrderBookLoader;
  readonly tokens: TokenLoader;
  /** Where it answers a subscription, what that streams. */
  readonly sourceStreams: SourceStreams;
};

/** What loaders must not go beyond, in whose turn they ask the upstreams, and what their client has got already. */
export type LoaderOptions = Omit<SourceStreamsOptions, 'sources'> & { readonly maxPageSize: number };

/**
 * Makes the loaders of one answer, for the head given or else for the one that is current when it is first needed.
 *
 * Each is made when it is first asked for: most answers are made from one or two of them.
 */
export function createLoaders(sources: Sources, options: LoaderOptions, pinned?: Head): Loaders {
  const dependencies = createDependencies();
  const head = createHeadPin(sources.head, dependencies, pinned);
  const loaders = Object.create(MADE_WHEN_ASKED);
  loaders.sources = sources;
  loaders.options = options;
  loaders.dependencies = dependencies;
  loaders.head = head;
  loaders.made = {};
  return loaders;
}

/** Loaders with what they are made from, and those that are made. */
type Making = Loaders & {
  readonly sources: Sources;
  readonly options: LoaderOptions;
  readonly made: { -readonly [Name in keyof Loaders]?: Loaders[Name] };
};

/**
 * What the loaders of all answers have in common.
 *
 * An object with getters of its own gets a hidden class of its own, which lives until the oldest garbage is collected, and
 * all that its getters know lives as long: that doubled the time of a page of pools.
 */
const MADE_WHEN_ASKED: Pick<Loaders, 'market' | 'tokens' | 'exchange' | 'orderBooks' | 'sourceStreams'> &
  ThisType<Making> = {
  get market() {
    this.made.market ??= createMarketLoader(this.sources.market, this.dependencies);
    return this.made.market;
  },
  get tokens() {
    this.made.tokens ??= createTokenLoader(this.sources.tokens, this.head, this.market);
    return this.made.tokens;
  },
  get exchange() {
    const { head, tokens, sources, options } = this;
    const { pastStates, pools } = sources;
    this.made.exchange ??= createExchangeLoader({ head, pastStates, pools, tokens, ...options });
    return this.made.exchange;
  },
  get orderBooks() {
    this.made.orderBooks ??= createOrderBookLoader(this.sources.orderBooks, this.dependencies, this.options.requester);
    return this.made.orderBooks;
  },
  get sourceStreams() {
    this.made.sourceStreams ??= createSourceStreams({ sources: this.sources, ...this.options });
    return this.made.sourceStreams;
  },
};
