import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { idOfMarket, isV3, tradingPools } from '../expected/exchange.ts';
import { type ExpectedLevel, expectedLevels, offersOf } from '../expected/ladder.ts';
import { fieldMismatch, listMismatch, marketsWithBook } from '../expected/market.ts';
import { BOOK_FIELDS, type Book, expectedBook } from '../expected/order-book.ts';
import { expectedPoolPrice, expectedPools } from '../expected/pools.ts';
import type { Operation } from '../judge.ts';
import type { ShownBlock } from '../shown-blocks.ts';
import { BOOK_MS, bookMismatch, tickersMismatch } from './market.ts';

type Level = ExpectedLevel & {
  readonly poolQuantity: number;
  readonly bookQuantity: number;
  readonly quantity: number;
};

type Pair = {
  readonly poolPrice: number | null;
  readonly ticker: { readonly lastPrice: number | null } | null;
  readonly orderBook: (Book & { readonly midPrice: number | null }) | null;
  readonly divergence: Readonly<Record<string, number | null>> | null;
  readonly depthLadder: {
    readonly midPrice: number;
    readonly bids: readonly Level[];
    readonly asks: readonly Level[];
  } | null;
};

/** The calculations use floating point, in another order than the gateway. */
const TOLERANCE = 1e-9;

/** The depth ladder and the divergence of a pair, with the pool price, the ticker and the book that they are made of. */
export function depthQuery({ shown, served }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  const market = pick(random, marketsWithBook(chain));
  const steps = { levels: 1 + random.below(20), stepPercent: pick(random, [0.1, 0.5, 2]) };

  const id = idOfMarket(chain, market);
  const pool = isV3(chain) ? tradingPools(chain).find((each) => each.id === id) : undefined;

  /** In V3, the ladder has the orders of the pool, and not those of the host. */
  function ladderMismatch({ depthLadder, orderBook }: Pair, block: Block): string | undefined {
    const offers = pool === undefined ? orderBook : offersOf(pool, block, market.base);
    if (offers === null) return undefined;
    const amounts = poolAt(block);
    const { base, target } = amounts ?? { base: 0, target: 0 };
    if (amounts === undefined || base === 0 || target === 0)
      return depthLadder === null ? undefined : 'a ladder without a pool';
    if (depthLadder === null) return 'no ladder';
    if (!isNear(depthLadder.midPrice, target / base)) return `midPrice is ${depthLadder.midPrice}`;
    for (const side of ['bids', 'asks'] as const) {
      const levels = depthLadder[side];
      const expected = expectedLevels(amounts, offers, steps, side);
      if (levels.length !== expected.length) return `${levels.length} ${side} instead of ${expected.length}`;
      for (const [index, level] of levels.entries()) {
        const wrong = levelMismatch(level, expected[index] as ExpectedLevel, levels[index - 1]);
        if (wrong !== undefined) return `${wrong} of ${side}[${index}] of the ladder`;
      }
    }
    return undefined;
  }

  function poolPriceMismatch({ poolPrice }: Pair, block: Block): string | undefined {
    return listMismatch([poolPrice], [expectedPoolPrice(chain, block, market)], 'poolPrice');
  }

  function tickerMismatch({ ticker }: Pair, markets: readonly ShownBlock[]): string | undefined {
    const place = chain.markets.indexOf(market);
    const rows = markets.map(({ tickers }) => ({ tickers: [{ lastPrice: tickers[place]?.['lastPrice'] }] }));
    return tickersMismatch([ticker], rows);
  }

  /** The reserves of base and target in whole tokens at a block; `undefined` without a pool or without decimals. */
  function poolAt(block: Block) {
    const pool = expectedPools(chain, block).get(`PoolPair:${id}`);
    if (pool === undefined) return undefined;
    const toWhole = (units1: string, units2: string) => {
      const [one, two] = [Number(units1) / 10 ** market.token1.decimals, Number(units2) / 10 ** market.token2.decimals];
      return market.base.id === market.token1.id ? { base: one, target: two } : { base: two, target: one };
    };
    const held = toWhole(pool.token1PoolValue, pool.token2PoolValue);
    return { ...toWhole(pool.token1VirtualValue, pool.token2VirtualValue), held };
  }

  return {
    kind: 'the depth ladder and the divergence of a pair',
    query: `query ($poolId: String!, $levels: Int!, $stepPercent: Float!) {
      beaconHeight
      pair(poolId: $poolId) {
        poolPrice
        ticker { lastPrice }
        orderBook(depth: 0) { ${BOOK_FIELDS} }
        divergence { poolPrice lastPrice bookMidPrice lastPercent bookPercent maxPercent }
        depthLadder(levels: $levels, stepPercent: $stepPercent) { midPrice bids { ...L } asks { ...L } }
      }
    }
    fragment L on LadderLevel { price poolQuantity bookQuantity quantity cumulativeQuantity cumulativeTotal }`,
    variables: { poolId: market.poolId, ...steps },
    check(data, times) {
      const { beaconHeight: height, pair: found } = data as { beaconHeight?: number; pair?: Pair | null };
      if (height === undefined) return undefined;
      const expectedBookAt = (block: Block) => expectedBook(chain, market, block, 0);
      return fieldMismatch(
        found,
        'pair',
        (pair) =>
          bookMismatch(pair.orderBook, expectedBookAt, shown.since(times.sentAt - BOOK_MS)) ??
          tickerMismatch(pair, served.markets(times.sentAt)) ??
          divergenceMismatch(pair) ??
          served.mismatch(height, times, (block) => poolPriceMismatch(pair, block) ?? ladderMismatch(pair, block)),
      );
    },
  };
}

/** Compares the divergence with the prices of the same response, which are compared with the hosts. */
function divergenceMismatch({ poolPrice, ticker, orderBook, divergence }: Pair): string | undefined {
  if (divergence === null) return poolPrice === null ? undefined : 'no divergence';
  const lastPrice = ticker?.lastPrice ?? null;
  const bookMidPrice = orderBook?.midPrice ?? null;
  const percent = (price: number | null) => (price === null || !poolPrice ? null : 100 * (price / poolPrice - 1));
  const [lastPercent, bookPercent] = [percent(lastPrice), percent(bookMidPrice)];
  const percents = [lastPercent, bookPercent].filter((each) => each !== null).map(Math.abs);
  const maxPercent = percents.length === 0 ? null : Math.max(...percents);
  const expected = { poolPrice, lastPrice, bookMidPrice, lastPercent, bookPercent, maxPercent };
  return listMismatch([divergence], [expected], 'divergence');
}

function levelMismatch(level: Level, expected: ExpectedLevel, before: Level | undefined): string | undefined {
  for (const name of ['price', 'cumulativeQuantity', 'cumulativeTotal'] as const)
    if (!isNear(level[name], expected[name])) return `${name} is ${level[name]} instead of ${expected[name]}`;
  if (!isNear(level.quantity, level.poolQuantity + level.bookQuantity)) return `quantity is ${level.quantity}`;
  const quantity = level.cumulativeQuantity - (before?.cumulativeQuantity ?? 0);
  const slack = TOLERANCE * level.cumulativeQuantity;
  return Math.abs(quantity - level.quantity) <= slack ? undefined : `the sum of quantities is not cumulativeQuantity`;
}

function isNear(actual: number, expected: number): boolean {
  return Math.abs(actual - expected) <= TOLERANCE * Math.abs(expected);
}
