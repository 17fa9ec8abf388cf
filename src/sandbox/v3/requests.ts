import type { Random } from '../chain/random.ts';
import type { ChainToken } from '../chain/tokens.ts';
import type { GenesisPool } from './genesis.ts';
import type { Params } from './params.ts';
import { type Amounts, otherSide, type Side } from './pool.ts';
import { leastFee, type Pools, type TradeRequest } from './trades.ts';

/** The value of one whole token in US dollars. */
type UsdOf = (token: ChainToken) => number;

/** What requests are made with: the pools before the block, their parameters, and what tokens are worth. */
type Situation = {
  readonly traded: readonly GenesisPool[];
  readonly pools: Pools;
  readonly params: Params;
  readonly usdOf: UsdOf;
};

/** Smallest units of token 1 that have the value of one of token 0. */
export function fairRatio({ token0, token1 }: GenesisPool, usdOf: UsdOf): number {
  return (usdOf(token0) / usdOf(token1)) * 10 ** (token1.decimals - token0.decimals);
}

/** Smallest units of token 1 for one of token 0, by the virtual amounts. */
function ratioOf([amount0, amount1]: Amounts): number {
  return Number(amount1) / Number(amount0);
}

/** A trade of somebody, more often towards the values of the tokens than away from them. One in five goes on through two to five pools. */
export function tradeAtRandom(pool: GenesisPool, situation: Situation, random: Random): TradeRequest | undefined {
  const virtual = situation.pools.states.get(pool.id)?.virtual ?? pool.initial.virtual;
  const drift = Math.log(ratioOf(virtual) / fairRatio(pool, situation.usdOf));
  const sold: Side = random.unit() < 0.5 - Math.max(-MAX_PULL, Math.min(MAX_PULL, drift * PULL)) ? 1 : 0;
  const amount = BigInt(Math.ceil(Number(virtual[sold]) * 10 ** random.between(-4.5, -2.3)));
  const path = random.chance(0.2) ? routeFrom(pool, pool.tokens[otherSide(sold)], situation, random) : [pool.id];
  // Some pay more than the least fee, and some offer less and are refused.
  const generosity = random.chance(0.03) ? 50n : BigInt(100 + random.below(60));
  const minimumBuy = random.chance(0.02) ? 10n ** 19n : 0n;
  return requestOf(
    { path, sellToken: pool.tokens[sold], sellAmount: amount, minimumBuy },
    situation,
    generosity,
    random,
  );
}

/** A route that begins with a pool, and continues with the token that it pays. Each further pool after the second is less likely. */
function routeFrom(pool: GenesisPool, paid: string, { traded }: Situation, random: Random): readonly string[] {
  const path = [pool.id];
  for (let token = paid; path.length < MAX_STEPS; ) {
    const next = traded.find(({ id, tokens }) => !path.includes(id) && tokens.includes(token));
    if (next === undefined) break;
    path.push(next.id);
    token = next.tokens[next.tokens[0] === token ? 1 : 0];
    if (random.chance(0.6)) break;
  }
  return path;
}

/** The longest route that the node accepts. */
const MAX_STEPS = 5;

/** The trade of somebody who earns from a pool whose price is not that of the other pools; `undefined` within the tolerance. */
export function arbitrage(pool: GenesisPool, situation: Situation, random: Random): TradeRequest | undefined {
  const virtual = situation.pools.states.get(pool.id)?.virtual ?? pool.initial.virtual;
  const fair = fairRatio(pool, situation.usdOf);
  const drift = ratioOf(virtual) / fair;
  if (drift < 1 + MAX_DRIFT && drift > 1 - MAX_DRIFT) return undefined;
  const product = Number(virtual[0]) * Number(virtual[1]);
  const wanted = drift > 1 ? Math.sqrt(product / fair) : Math.sqrt(product * fair);
  const sold: Side = drift > 1 ? 0 : 1;
  const sellAmount = BigInt(Math.ceil(wanted)) - virtual[sold];
  if (sellAmount <= 0n) return undefined;
  return requestOf(
    { path: [pool.id], sellToken: pool.tokens[sold], sellAmount, minimumBuy: 0n },
    situation,
    105n,
    random,
  );
}

/** How strongly a difference from the fair ratio decides about the side of a trade, and at most. */
const PULL = 25;
const MAX_PULL = 0.45;

/** How far the price of a pool may be from the values of its tokens after a block. */
const MAX_DRIFT = 0.002;

/** A request that pays a percentage of the least fee, half of the time in the native token. */
function requestOf(
  trade: Pick<TradeRequest, 'path' | 'sellToken' | 'sellAmount' | 'minimumBuy'>,
  { pools, params }: Situation,
  percent: bigint,
  random: Random,
): TradeRequest | undefined {
  const id = random.hex(64);
  const isFeeInNativeToken = random.chance(0.5);
  const request = { ...trade, id, isFeeInNativeToken };
  const least = leastFee(pools, params, request);
  return least === undefined ? undefined : { ...request, fee: (least * percent + 99n) / 100n };
}
