import { LRUCache } from 'lru-cache';
import { type ExchangeState, type PoolDirectory, poolCount, poolPairAt, versionOf } from '../domain/exchange.ts';
import { ExchangeSwaps } from '../domain/exchange-swaps.ts';
import type { Market, Pair, Ticker } from '../domain/market.ts';
import { filterFingerprint, type PoolPairOrder } from '../domain/page.ts';
import { type PoolGraph, toPoolGraph } from '../domain/pool-graph.ts';
import { type PoolPair, pin } from '../domain/pool-pair.ts';
import { listPlaces, type PoolPairFilter } from '../domain/pool-selection.ts';
import type { TokenId, TokenList } from '../domain/token.ts';
import { type UsdPrices, usdPrices } from '../domain/usd-prices.ts';
import type { Head } from '../live/chain/head.ts';

/** What is computed from an exchange state once for all clients. It is dropped together with the state. */
export type StatePools = ReturnType<typeof createStatePools>;

/** The pools of the newest state, and of the few others that were used last. */
export type PoolCache = ReturnType<typeof createPoolCache>;

/** A client that pages through an earlier state uses it for a while. */
const MAX_OTHER_STATES = 2;

/** Creates an empty cache. @param tokenList the token list if it can change: the JSON of pools contains prices */
export function createPoolCache(tokenList?: () => object) {
  /** Most requests are about it. */
  let newest: StatePools | undefined;
  /** The one that was used last comes first. */
  let others: readonly StatePools[] = [];
  const graphs = new WeakMap<PoolDirectory, PoolGraph>();

  /** The graph of the pools of a directory. States that share a directory share it, for as long as they exist. */
  function graphOf(directory: PoolDirectory): PoolGraph {
    const graph = graphs.get(directory) ?? toPoolGraph(directory);
    graphs.set(directory, graph);
    return graph;
  }

  function get(state: ExchangeState, isPinned: boolean): StatePools {
    if (newest?.exchange === state && !isPinned) return newest;
    const found = others.find((each) => each.exchange === state && each.isPinned === isPinned);
    const used = found ?? createStatePools(state, isPinned, { graphOf, tokenList });
    // Some clients read the version that does not trade.
    const isTrading = state.v3 !== undefined || newest?.exchange.v3 === undefined;
    const isNewest = !isPinned && isTrading && state.beaconHeight >= (newest?.exchange.beaconHeight ?? 0);
    const usedLast = isNewest ? newest : used;
    if (isNewest) newest = used;
    const rest = others.filter((each) => each !== used);
    others = (usedLast === undefined ? rest : [usedLast, ...rest]).slice(0, MAX_OTHER_STATES);
    return used;
  }

  function isOf({ exchange, isPinned }: StatePools, pool: PoolPair): boolean {
    const isOfVersion = versionOf(exchange) === versionOf(pool);
    return isOfVersion && exchange.beaconHeight === pool.beaconHeight && isPinned === (pool.isPinned ?? false);
  }

  return {
    of: (state: ExchangeState) => get(state, false),
    /** The same with each pool at its height for ever. */
    pinned: (state: ExchangeState) => get(state, true),
    graphOf,
    /** The JSON of the pools of this pool's state; `undefined` if the state was dropped. */
    jsonOf(pool: PoolPair): PoolJsonCache | undefined {
      const cached = newest !== undefined && isOf(newest, pool) ? newest : others.find((each) => isOf(each, pool));
      return cached?.json();
    },
  };
}

/** Lists of one state: 8 bytes for each pool in them. */
const MAX_LISTS = 8;

type PoolCacheOptions = {
  readonly graphOf: (directory: PoolDirectory) => PoolGraph;
  readonly tokenList: (() => object) | undefined;
};

function createStatePools(exchange: ExchangeState, isPinned: boolean, { graphOf, tokenList }: PoolCacheOptions) {
  const pools = Array<PoolPair | undefined>(poolCount(exchange));
  const lists = new LRUCache<string, readonly number[]>({ max: MAX_LISTS });
  let swaps: ExchangeSwaps | undefined;
  let tokens = tokenList?.();
  let json = createPoolJsonCache();

  function at(place: number): PoolPair {
    const pool = pools[place] ?? (isPinned ? pin(poolPairAt(exchange, place)) : poolPairAt(exchange, place));
    pools[place] = pool;
    return pool;
  }

  return {
    exchange,
    isPinned,
    /** The pool at a place of the directory: always the same object. */
    at,
    /** The places of the pools that pass the filter, in that order. The lists that were used last are filtered and sorted once. */
    list(filter: PoolPairFilter, order: PoolPairOrder): readonly number[] {
      const anyTokenOf = filter.anyTokenOf && [...filter.anyTokenOf].sort();
      const poolIds = filter.poolIds && [...filter.poolIds].sort();
      const name = `${order}:${filterFingerprint({ ...filter, anyTokenOf, poolIds })}`;
      const list = lists.get(name) ?? listPlaces(exchange, filter, order);
      lists.set(name, list);
      return list;
    },
    graph: () => graphOf(exchange.directory),
    /** The trades through the pools. */
    swaps(): ExchangeSwaps {
      swaps ??= new ExchangeSwaps(exchange);
      return swaps;
    },
    /** The JSON of the pools, with the current token list. */
    json(): PoolJsonCache {
      if (tokens !== tokenList?.()) json = createPoolJsonCache();
      tokens = tokenList?.();
      return json;
    },
  };
}

/** The JSON text of a pool, as the selections of one shape write it. */
type PoolJson = {
  readonly text: string;
  /** What it depends on beside the pool; `undefined` for most pools, which depend on nothing that can change. */
  readonly validity: JsonValidity | undefined;
};

/** What a response must have read so that a text can be part of it. */
export type JsonValidity = {
  /** `undefined` if the text depends on no head. A pool of an earlier height can show its current price. */
  readonly head: Head | undefined;
  readonly pairs: Market<Pair> | undefined;
  readonly tickers: Market<Ticker> | undefined;
  /** The version of the recorded heights; `undefined` if the text does not depend on it. */
  readonly recorded: number | undefined;
  /** The same of the recorded trades. */
  readonly trades: number | undefined;
};

type PoolJsonCache = ReturnType<typeof createPoolJsonCache>;

/** Enough for ten thousand pools with most of their fields. With all fields, a pool has about 1,000 characters. */
const MAX_CHARACTERS = 6_000_000;

/** Creates a cache of at most that many written characters. When it is full, it is emptied: what is used often is soon cached again. */
export function createPoolJsonCache(maxCharacters = MAX_CHARACTERS) {
  const texts = new Map<object, Map<PoolPair, PoolJson>>();
  let characters = 0;

  return {
    get: (shape: object, pool: PoolPair) => texts.get(shape)?.get(pool),
    set(shape: object, pool: PoolPair, json: PoolJson) {
      characters += json.text.length - (texts.get(shape)?.get(pool)?.text.length ?? 0);
      if (characters > maxCharacters) {
        texts.clear();
        characters = json.text.length;
      }
      const ofShape = texts.get(shape) ?? new Map<PoolPair, PoolJson>();
      texts.set(shape, ofShape.set(pool, json));
    },
    /**
     * Shapes of which a pool cannot be cached, or had something to wait for, and the number of reads of the history that had ended then.
     * Their pools are not cached until another one has ended.
     */
    uncacheable: new WeakMap<object, number>(),
  };
}

/** What tokens are worth in a state, with the decimals of a token list. It is computed once, when it is first read. */
export type UsdPricesOf = (state: ExchangeState, tokens: TokenList) => UsdPrices;

/** Creates the prices in US dollars. Those of a state are dropped together with it. */
export function createUsdPrices(stableCoins: readonly TokenId[], { graphOf }: Pick<PoolCache, 'graphOf'>): UsdPricesOf {
  const computed = new WeakMap<ExchangeState, { readonly tokens: TokenList; readonly prices: UsdPrices }>();

  return (state, tokens) => {
    const known = computed.get(state);
    if (known?.tokens === tokens) return known.prices;
    const coins = stableCoins.flatMap((tokenId) => tokens.get(tokenId) ?? []);
    const prices = usdPrices(state, graphOf(state.directory), coins);
    computed.set(state, { tokens, prices });
    return prices;
  };
}
