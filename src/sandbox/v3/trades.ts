import type { FeeParams } from './params.ts';
import { type Amounts, changed, otherSide, type PoolState, type Side } from './pool.ts';
import { type Refusal, type Swap, swap } from './swap.ts';

/** The coin of the chain, in which a fee can be paid. */
export const NATIVE_TOKEN = '0000000000000000000000000000000000000000000000000000000000000004';

/** A pool of the exchange: its parts that never change. */
export type V3Pool = {
  /** `<token 0>-<token 1>-<hash>`. */
  readonly id: string;
  /** The ids of its tokens, the smaller first. */
  readonly tokens: readonly [string, string];
  /** 10,000 means none. */
  readonly amplifier: number;
};

/** The pools of an exchange, and their states by the ids of the pools. */
export type Pools = {
  readonly all: ReadonlyMap<string, V3Pool>;
  readonly states: ReadonlyMap<string, PoolState>;
};

/** A request to trade along a path of pools. The whole amount is swapped; the fee is on top. */
export type TradeRequest = {
  /** The hash of its transaction. */
  readonly id: string;
  /** The ids of one to five pools. */
  readonly path: readonly string[];
  readonly sellToken: string;
  readonly sellAmount: bigint;
  readonly minimumBuy: bigint;
  readonly fee: bigint;
  readonly isFeeInNativeToken: boolean;
};

/** A trade that the exchange executed. */
export type AcceptedTrade = {
  readonly request: TradeRequest;
  readonly buyToken: string;
  readonly buyAmount: bigint;
  /** For each pool of the path: the signed changes of its amounts, those of its orders' balances, and its part of the fee. */
  readonly pairChanges: readonly Amounts[];
  readonly orderChanges: readonly ReadonlyMap<string, Amounts>[];
  readonly rewards: readonly (readonly [token: string, amount: bigint])[];
};

/** A trade that the exchange refused, which pays back what was paid. */
export type RefusedTrade = { readonly request: TradeRequest; readonly because: Refusal | 'FEE' | 'BELOW_MINIMUM' };

/** What came into each pool of a trade and went out of it, through curve and orders together. Nothing for a refused trade. */
export function volumesOf(
  trade: AcceptedTrade | RefusedTrade,
): readonly { readonly poolId: string; readonly sold: Side; readonly paid: bigint; readonly got: bigint }[] {
  if ('because' in trade) return [];
  return trade.request.path.map((poolId, i) => {
    const [change0, change1] = [...(trade.orderChanges[i]?.values() ?? [])].reduce(
      changed,
      trade.pairChanges[i] ?? [0n, 0n],
    );
    const sold: Side = change0 > 0n ? 0 : 1;
    return { poolId, sold, paid: sold === 0 ? change0 : change1, got: sold === 0 ? -change1 : -change0 };
  });
}

/**
 * Executes the trades of a block: those that pay more for what they sell come first. The rates of fees are those before the first.
 *
 * @returns the trades in the order of execution, and the states of the pools afterwards
 */
export function executeTrades(
  pools: Pools,
  params: FeeParams,
  requests: readonly TradeRequest[],
): { readonly trades: readonly (AcceptedTrade | RefusedTrade)[]; readonly states: ReadonlyMap<string, PoolState> } {
  const weighted = requests.map((request) => ({ request, fee: weightedFee(pools, params, request) }));
  weighted.sort((one, other) =>
    compare((other.fee ?? 0n) * one.request.sellAmount, (one.fee ?? 0n) * other.request.sellAmount),
  );

  let states = pools.states;
  const trades = weighted.map(({ request, fee }): AcceptedTrade | RefusedTrade => {
    const rates = request.path.map((id) => feeRateOf(params, id));
    if (fee === undefined || fee * 10_000n < request.sellAmount * sumOf(rates)) return { request, because: 'FEE' };
    const executed = execute({ all: pools.all, states }, request, rates);
    if (typeof executed === 'string') return { request, because: executed };
    if (executed.trade.buyAmount < request.minimumBuy) return { request, because: 'BELOW_MINIMUM' };
    states = executed.states;
    return executed.trade;
  });
  return { trades, states };
}

/** The least fee that the exchange accepts for a trade; `undefined` if no pool says what the native token is worth. */
export function leastFee(
  pools: Pools,
  params: FeeParams,
  request: Pick<TradeRequest, 'path' | 'sellToken' | 'sellAmount' | 'isFeeInNativeToken'>,
): bigint | undefined {
  const rates = request.path.map((id) => feeRateOf(params, id));
  const fee = dividedUp(request.sellAmount * sumOf(rates), 10_000n);
  if (!isPaidInNativeToken(request)) return fee;
  const discounted = BigInt(100 - params.prvDiscountPercent);
  if (request.sellToken === NATIVE_TOKEN) return dividedUp(fee * discounted, 100n);
  const rate = nativeRateOf(pools, params.minPrvReserve, request.sellToken);
  return rate && dividedUp(fee * rate.native * discounted, rate.token * 100n);
}

/** The rate of the fee of a pool, in hundredths of a percent. */
function feeRateOf({ defaultFeeRateBps, feeRateBps }: FeeParams, poolId: string): bigint {
  return BigInt(feeRateBps.get(poolId) ?? defaultFeeRateBps);
}

function execute({ all, states }: Pools, request: TradeRequest, rates: readonly bigint[]): Executed | Refusal {
  const after = new Map(states);
  const steps = swapAlong({ all, states: after }, request);
  if (typeof steps === 'string') return steps;
  const last = steps.at(-1);
  if (last === undefined) return 'PATH_DOES_NOT_FIT';
  const buyAmount = last.swaps[0].bought;

  const rewards = isPaidInNativeToken(request) ? split(request.fee, rates) : swapFee(after, steps, request.fee, rates);
  if (typeof rewards === 'string') return rewards;
  const trade: AcceptedTrade = {
    request,
    buyToken: last.pool.tokens[otherSide(last.sold)],
    buyAmount,
    pairChanges: steps.map(({ swaps }) => swaps.map(({ pairChange }) => pairChange).reduce(changed)),
    orderChanges: steps.map(({ swaps }) => sumOfChanges(swaps.map(({ orderChanges }) => orderChanges))),
    rewards: rewards.map((reward, i) => [rewardToken(request, steps[i]), reward]),
  };
  return { trade, states: after };
}

/** Swaps an amount along a path without a fee, and replaces the states of its pools. */
export function swapAlong(
  { all, states }: { readonly all: Pools['all']; readonly states: Map<string, PoolState> },
  { path, sellToken, sellAmount }: Pick<TradeRequest, 'path' | 'sellToken' | 'sellAmount'>,
): readonly Step[] | Refusal {
  if (new Set(path).size < path.length) return 'POOL_TWICE';
  const steps: Step[] = [];
  let token = sellToken;
  let amount = sellAmount;
  for (const id of path) {
    const pool = all.get(id);
    if (pool === undefined) return 'NO_SUCH_POOL';
    const sold = sideOf(pool, token);
    if (sold === undefined) return 'PATH_DOES_NOT_FIT';
    const swapped = swapThrough(states, pool, sold, amount);
    if (typeof swapped === 'string') return swapped;
    steps.push({ pool, sold, swaps: [swapped] });
    amount = swapped.bought;
    token = pool.tokens[otherSide(sold)];
  }
  return steps;
}

type Executed = { readonly trade: AcceptedTrade; readonly states: ReadonlyMap<string, PoolState> };

/** One pool of a path, with what was swapped through it: the trade, then a part of its fee. */
export type Step = { readonly pool: V3Pool; readonly sold: Side; readonly swaps: [Swap, ...Swap[]] };

function swapThrough(states: Map<string, PoolState>, { id }: V3Pool, sold: Side, amount: bigint): Swap | Refusal {
  const state = states.get(id);
  const swapped = state === undefined ? 'NO_SUCH_POOL' : swap(state, sold, amount);
  if (typeof swapped !== 'string') states.set(id, swapped.after);
  return swapped;
}

/** Swaps a fee along the path. Each pool keeps its part, and the rest buys the token of the next pool. */
function swapFee(
  states: Map<string, PoolState>,
  steps: readonly Step[],
  fee: bigint,
  rates: readonly bigint[],
): readonly bigint[] | Refusal {
  const rewards: bigint[] = [];
  let rest = fee;
  for (const [i, { pool, sold, swaps }] of steps.entries()) {
    const [part = 0n] = split(rest, rates.slice(i));
    rewards.push(part);
    rest -= part;
    if (i === steps.length - 1) break;
    const swapped = swapThrough(states, pool, sold, rest);
    if (typeof swapped === 'string') return swapped;
    if (swapped.bought === 0n) return 'ONE_SIDE_ZERO';
    swaps.push(swapped);
    rest = swapped.bought;
  }
  return rewards;
}

/** Splits an amount in proportion to weights. The last part is what the roundings leave. */
function split(amount: bigint, weights: readonly bigint[]): readonly bigint[] {
  const total = sumOf(weights);
  const parts = weights.slice(0, -1).map((weight) => (amount * weight) / total);
  return [...parts, amount - sumOf(parts)];
}

function rewardToken(request: TradeRequest, step: Step | undefined): string {
  return isPaidInNativeToken(request) || step === undefined ? NATIVE_TOKEN : step.pool.tokens[step.sold];
}

function isPaidInNativeToken({
  sellToken,
  isFeeInNativeToken,
}: Pick<TradeRequest, 'sellToken' | 'isFeeInNativeToken'>): boolean {
  return isFeeInNativeToken || sellToken === NATIVE_TOKEN;
}

/** The fee in the sold token, without the discount of the native token; `undefined` if no pool says what the native token is worth. */
function weightedFee(pools: Pools, params: FeeParams, request: TradeRequest): bigint | undefined {
  if (!isPaidInNativeToken(request)) return request.fee;
  const discounted = BigInt(100 - params.prvDiscountPercent);
  if (request.sellToken === NATIVE_TOKEN) return (request.fee * 100n) / discounted;
  const rate = nativeRateOf(pools, params.minPrvReserve, request.sellToken);
  return rate && (request.fee * rate.token * 100n) / discounted / rate.native;
}

/** The virtual amounts that convert a fee: those of the most liquid pool of a token and the native token. */
export function nativeRateOf(
  { all, states }: Pools,
  minNative: bigint,
  token: string,
): { readonly token: bigint; readonly native: bigint; readonly liquidity: bigint } | undefined {
  const candidates = [...all.values()].flatMap((pool) => {
    const native = sideOf(pool, NATIVE_TOKEN);
    const state = states.get(pool.id);
    if (native === undefined || pool.tokens[otherSide(native)] !== token || state === undefined) return [];
    const amounts = { token: state.virtual[otherSide(native)], native: state.virtual[native] };
    const amplifier = BigInt(pool.amplifier);
    if (amounts.native * 10_000n < minNative * amplifier) return [];
    const liquidity = (((amounts.token * amounts.native * 10_000n) / amplifier) * 10_000n) / amplifier;
    return liquidity === 0n ? [] : [{ ...amounts, liquidity }];
  });
  const [best] = candidates.sort(
    (one, other) =>
      compare(other.liquidity, one.liquidity) || compare(other.token * one.native, one.token * other.native),
  );
  return best;
}

function sideOf({ tokens }: V3Pool, token: string): Side | undefined {
  return token === tokens[0] ? 0 : token === tokens[1] ? 1 : undefined;
}

function sumOfChanges(changes: readonly ReadonlyMap<string, Amounts>[]): ReadonlyMap<string, Amounts> {
  const sums = new Map<string, Amounts>();
  for (const [id, change] of changes.flatMap((each) => [...each]))
    sums.set(id, changed(sums.get(id) ?? [0n, 0n], change));
  return sums;
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n);
}

function dividedUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
