import { type Block, branchVersion } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import { parseExactly } from '../../src/sandbox/http/exact-json.ts';
import { instructionsOf } from '../../src/sandbox/v3/instructions.ts';
import type { TradingPool } from './exchange.ts';
import { listMismatch } from './market.ts';
import { expectedToken } from './pools.ts';

/** A trade through one pool, read from the instructions of its block. Amounts are in smallest units. */
export type ExpectedTrade = {
  readonly height: number;
  /** Unix seconds. */
  readonly time: number;
  /** Its place among the trades of the block, from 0. */
  readonly place: number;
  readonly poolId: string;
  readonly transactionId: string;
  readonly step: number;
  readonly steps: number;
  readonly sells: 0 | 1;
  /** What came into the pool and its orders, and what went out. */
  readonly paid: bigint;
  readonly got: bigint;
  readonly gotFromOrders: bigint;
  /** The signed changes of the amounts of the pool alone. */
  readonly change: Sides;
  readonly orderChanges: ReadonlyMap<string, Sides>;
};

/** Signed amounts of token 1 and token 2 of a pool. */
type Sides = readonly [bigint, bigint];

/** The fields of a trade that are requested. */
export const TRADE_FIELDS =
  'id transactionId beaconHeight time sellToken { tokenId } buyToken { tokenId } sellAmount buyAmount buyAmountFromOrders price step steps';

/** A trade in a response. */
export type TradeResult = Readonly<Record<string, unknown>> & {
  readonly transactionId: string;
  readonly beaconHeight: number;
  readonly step: number;
  readonly price: number | null;
};

const cache = new WeakMap<Block, readonly ExpectedTrade[]>();

/** The accepted trades of a block, in its order. A trade along several pools is one for each of them. None in V1. */
export function tradesOfBlock({ seed }: Chain, block: Block): readonly ExpectedTrade[] {
  const known = cache.get(block);
  if (known) return known;

  const trades: ExpectedTrade[] = [];
  for (const [type, status, , transactionId = '', text = ''] of instructionsOf(seed, block, block.v3)) {
    if (type !== '285' || status !== '1') continue;
    const { TradePath: path, PairChanges: ofPools, OrderChanges: ofOrders } = contentOf(text);
    for (const [step, poolId] of path.entries()) {
      const change = toSides(ofPools[step]);
      const orderChanges = new Map(Object.entries(ofOrders[step] ?? {}).map(([id, each]) => [id, toSides(each)]));
      const sumOf = (side: 0 | 1) => [...orderChanges.values()].reduce((sum, each) => sum + each[side], 0n);
      const total = [change[0] + sumOf(0), change[1] + sumOf(1)] as const;
      const sells = total[0] > 0n ? 0 : 1;
      const bought = sells === 0 ? 1 : 0;
      trades.push({
        ...{ height: block.height, time: block.time, place: trades.length },
        ...{ poolId, transactionId, step, steps: path.length, sells, change, orderChanges },
        paid: total[sells],
        got: -total[bought],
        gotFromOrders: -sumOf(bought),
      });
    }
  }
  cache.set(block, trades);
  return trades;
}

/** The block at a height from which a block descends: of its branch, or of the chain. */
export function ancestorOf(chain: Chain, block: Block, height: number): Block | undefined {
  if (height >= block.height) return height === block.height ? block : undefined;
  const from = block.version - branchVersion(0);
  // Only the tip of the chain is ever replaced.
  return from < 0 ? chain.block(height) : chain.branchBlock(from, height);
}

/** The difference between trades in a response and what is expected. */
export function tradesMismatch(
  actual: readonly TradeResult[],
  expected: readonly ExpectedTrade[],
  pools: ReadonlyMap<string, TradingPool>,
  what = 'trades',
): string | undefined {
  const withoutPrice = actual.map(({ price: _, ...others }) => others);
  const mismatch = listMismatch(
    withoutPrice,
    expected.map((trade) => resultOf(trade, pools.get(trade.poolId))),
    what,
  );
  if (mismatch !== undefined) return mismatch;
  for (const [index, trade] of expected.entries()) {
    const [price, isPrice] = [actual[index]?.price ?? null, priceOf(trade, pools.get(trade.poolId))];
    if (!isNear(price, isPrice)) return `the price of ${what}[${index}] is ${price} instead of ${isPrice}`;
  }
  return undefined;
}

/** Whole token 1 for one whole token 2; null if the decimals of a token are unknown. */
export function priceOf({ sells, paid, got }: ExpectedTrade, pool: TradingPool | undefined): number | null {
  if (pool === undefined) return null;
  const [{ decimals: decimals1 }, { decimals: decimals2 }] = [expectedToken(pool.token1), expectedToken(pool.token2)];
  if (decimals1 === null || decimals2 === null) return null;
  const [amount1, amount2] = sells === 0 ? [paid, got] : [got, paid];
  return (Number(amount1) / Number(amount2)) * 10 ** (decimals2 - decimals1);
}

/** Whether two prices are the same but for roundings. */
export function isNear(actual: number | null, expected: number | null): boolean {
  if (actual === null || expected === null) return actual === expected;
  return Math.abs(actual - expected) <= 1e-12 * Math.abs(expected);
}

function resultOf(trade: ExpectedTrade, pool: TradingPool | undefined) {
  const { height, time, transactionId, step, steps, sells, paid, got, gotFromOrders } = trade;
  const tokens = [{ tokenId: pool?.token1.id }, { tokenId: pool?.token2.id }] as const;
  return {
    id: `Trade:${height}:${transactionId}:${step}`,
    transactionId,
    beaconHeight: height,
    time: new Date(time * 1_000).toISOString(),
    sellToken: tokens[sells],
    buyToken: tokens[sells === 0 ? 1 : 0],
    sellAmount: String(paid),
    buyAmount: String(got),
    buyAmountFromOrders: String(gotFromOrders),
    step,
    steps,
  };
}

type Content = {
  readonly TradePath: readonly string[];
  readonly PairChanges: readonly unknown[];
  readonly OrderChanges: readonly Readonly<Record<string, unknown>>[];
};

function contentOf(text: string): Content {
  return (parseExactly(text) as { readonly Content: Content }).Content;
}

function toSides(change: unknown): Sides {
  const [change0, change1] = change as readonly [number | bigint, number | bigint];
  return [BigInt(change0), BigInt(change1)];
}
