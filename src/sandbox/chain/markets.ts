import { type ChainPool, type Venue, venueOf } from './pools.ts';
import { createRandom } from './random.ts';
import { type ChainToken, marketSymbol, type TokenName, tokenNamed } from './tokens.ts';

/** What is unusual about a market. Each was seen in recorded responses, or is to be expected. */
type MarketOddity =
  | 'no target volume'
  | 'null figures'
  | 'absent figures'
  | 'empty book'
  | 'thin book'
  | 'unsorted book'
  | 'crossed book';

/** A market of the newer generation of the exchange. It has its own pool, often of two tokens that also have a pool of the node. */
export type ChainMarket = Venue & {
  readonly tickerId: string;
  readonly poolId: string;
  readonly base: ChainToken;
  readonly target: ChainToken;
  /** The pool of the node whose price the market follows. */
  readonly nodePool: ChainPool | undefined;
  readonly oddity: MarketOddity | undefined;
};

// Targets of pairs, the most common first.
const TARGETS = ['USDT', 'USDC', 'DAI', 'BUSD', 'PRV', 'BTC', 'ETH'];

// Pairs with several pools, and the number of pools.
const POOLS_OF_PAIR: ReadonlyMap<string, number> = new Map([
  ['PRV_pUSDT', 3],
  ['pETH_pUSDT', 2],
  ['pBTC_pUSDC', 2],
]);

const ODDITIES: ReadonlyMap<string, MarketOddity> = new Map([
  ['pDAF_PRV', 'no target volume'],
  ['pTOMO_PRV', 'null figures'],
  ['pTOMO_pUSDC', 'absent figures'],
  ['pSWAP_pUSDT', 'empty book'],
  ['pGUSD_PRV', 'thin book'],
  ['pINO_PRV', 'thin book'],
  ['pFXC_PRV', 'thin book'],
  ['pZRX_PRV', 'unsorted book'],
  ['pBAT_pETH', 'unsorted book'],
  ['pPOWR_PRV', 'crossed book'],
  ['pKNC_pETH', 'crossed book'],
]);

// Pairs without a pool of the node: base, target, US dollars per side, and the suffix of the pool id if one is recorded.
const MARKETS_WITHOUT_NODE_POOL: readonly (readonly [TokenName, TokenName, number, string?])[] = [
  ['newer DAF', 'PRV', 9_000, '1516fc5dec2655f701a5cbf7163d736334592dec9fd853419d80bc41ea48e2fd'],
  ['newer ETH', 'newer USDT', 310_000, 'd3976e67fbefe50eb3f4ec9f2266b734a49f3c97effa825117db84ac08f60b6d'],
  ['NEO', 'USDC', 26_000],
  ['TOMO', 'PRV', 5_000],
  ['TOMO', 'USDC', 2_000],
];

/** Tokens of several networks that V3 of the exchange holds as one, with an id of its own. */
const UNIFIED: ReadonlyMap<ChainToken, ChainToken> = new Map([
  [tokenNamed('USDT'), tokenNamed('newer USDT')],
  [tokenNamed('ETH'), tokenNamed('newer ETH')],
]);

/**
 * The markets of a chain: one or more for each pool with reserves and named tokens, and a few without a pool of the node.
 *
 * @param areUnified whether the pools of the markets hold unified tokens
 */
export function marketsOf(seed: number, pools: readonly ChainPool[], areUnified: boolean): readonly ChainMarket[] {
  const markets: ChainMarket[] = [];
  const unified = (token: ChainToken) => (areUnified ? (UNIFIED.get(token) ?? token) : token);

  function add(one: ChainToken, other: ChainToken, usd: number, nodePool?: ChainPool, suffix?: string): void {
    const [base, target] = [unified(one), unified(other)];
    const index = pools.length + markets.length;
    const random = createRandom(seed, 'market', index);
    const { token1, token2, initial } = venueOf(random.between(0.999, 1.001), index, base, target, usd);
    const tickerId = `${marketSymbol(base)}_${marketSymbol(target)}`;
    const poolId = `${token1.id}-${token2.id}-${suffix ?? random.hex(64)}`;
    const oddity = ODDITIES.get(tickerId);

    markets.push({ index, token1, token2, initial, tickerId, poolId, base, target, nodePool, oddity });
  }

  for (const pool of pools) {
    if (!pool.token1.symbol || !pool.token2.symbol || pool.initial[0] === 0n) continue;
    const [base, target] =
      rank(pool.token1) > rank(pool.token2) ? [pool.token1, pool.token2] : [pool.token2, pool.token1];
    const usd = (Number(pool.initial[0]) / 10 ** pool.token1.decimals) * pool.token1.usd;
    const count = POOLS_OF_PAIR.get(`${marketSymbol(base)}_${marketSymbol(target)}`) ?? 1;

    for (let copy = 1; copy <= count; copy++) add(base, target, (usd * 0.4) / copy, pool);
  }
  for (const [base, target, usd, suffix] of MARKETS_WITHOUT_NODE_POOL) {
    add(tokenNamed(base), tokenNamed(target), usd, undefined, suffix);
  }
  return markets;
}

function rank({ symbol = '' }: ChainToken): number {
  const place = TARGETS.indexOf(symbol);
  return place === -1 ? TARGETS.length : place;
}
