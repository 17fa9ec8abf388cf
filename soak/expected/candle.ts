import type { Block } from '../../src/sandbox/chain/block.ts';
import { amountsAt, type TradingPool } from './exchange.ts';
import { expectedToken } from './pools.ts';
import { quotesOf } from './price-formula.ts';

/** What happened to a pool in several blocks, one after another. */
export type ExpectedWindow = {
  readonly open: number | null;
  /** The prices at the blocks with the highest ratio of the reserves. There are several if they have the same ratio. */
  readonly highs: readonly (number | null)[];
  readonly lows: readonly (number | null)[];
  readonly close: number | null;
  /** `undefined` in V3: the trades of its blocks are known exactly, or only what they changed. */
  readonly traded: readonly [string, string] | undefined;
};

type Reserves = readonly [bigint, bigint];

/** The price of a pool at a block; `null` with an empty side, or if the decimals of a token are unknown. */
export function priceAt(pool: TradingPool, block: Block): number | null {
  const [{ decimals: decimals1 }, { decimals: decimals2 }] = [expectedToken(pool.token1), expectedToken(pool.token2)];
  if (decimals1 === null || decimals2 === null) return null;
  const [reserve1, reserve2] = amountsAt(pool, block).virtual;
  return quotesOf({ reserve1, reserve2, decimals1, decimals2 }).price;
}

/** The prices of a pool at these blocks. @param before the block before the first one, from which trades count */
export function expectedWindow(pool: TradingPool, blocks: readonly Block[], before?: Block): ExpectedWindow {
  const reservesAt = (block: Block) => amountsAt(pool, block).virtual;
  const states = blocks.map((block) => ({ price: priceAt(pool, block), reserves: reservesAt(block) }));
  const full = states.filter(({ reserves: [one, two] }) => one > 0n && two > 0n);
  const compared = full.length > 0 ? full : states;
  const ratio = ([one, two]: Reserves, [otherOne, otherTwo]: Reserves) => one * otherTwo - otherOne * two;
  const pricesAtMost = (sign: bigint) =>
    compared
      .filter(({ reserves }) => compared.every((other) => sign * ratio(reserves, other.reserves) >= 0n))
      .map(({ price }) => price);

  let [traded1, traded2] = [0n, 0n];
  const all = before === undefined ? blocks : [before, ...blocks];
  for (const [index, block] of all.slice(1).entries()) {
    const [one, two] = reservesAt(block);
    const [oneBefore, twoBefore] = reservesAt(all[index] as Block);
    // A trade raises one reserve and lowers the other. A deposit or a withdrawal moves both in one direction.
    if ((one - oneBefore) * (two - twoBefore) >= 0n) continue;
    traded1 += absolute(one - oneBefore);
    traded2 += absolute(two - twoBefore);
  }
  return {
    open: states[0]?.price ?? null,
    highs: pricesAtMost(1n),
    lows: pricesAtMost(-1n),
    close: states.at(-1)?.price ?? null,
    traded: pool.v3 === undefined ? [String(traded1), String(traded2)] : undefined,
  };
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
