import { createRandom, type Random } from '../chain/random.ts';
import type { ChainToken } from '../chain/tokens.ts';
import type { GenesisPool } from './genesis.ts';
import { MAX_ORDERS, ORDERS_OF_POOL, orderNear, shardOf, withOrder, withoutBalance } from './orders.ts';
import { type Params, paramsAt } from './params.ts';
import {
  type Amounts,
  byPlaceInList,
  changed,
  isMatchable,
  type Order,
  type PoolState,
  type Side,
  squareRoot,
} from './pool.ts';
import { arbitrage, fairRatio, tradeAtRandom } from './requests.ts';
import { type AcceptedTrade, executeTrades, type RefusedTrade } from './trades.ts';

/** What a block did to the exchange. */
export type V3Event =
  | { readonly kind: 'liquidity'; readonly pool: GenesisPool; readonly id: string; readonly amounts: Amounts }
  | { readonly kind: 'trade'; readonly trade: AcceptedTrade | RefusedTrade }
  | { readonly kind: 'withdrawal'; readonly pool: GenesisPool; readonly order: Order; readonly side: Side }
  | { readonly kind: 'order'; readonly pool: GenesisPool; readonly order: Order };

/** The exchange after a block, and what the block did to it, in the order of its instructions. Immutable. */
export type V3Block = {
  readonly states: ReadonlyMap<string, PoolState>;
  readonly events: readonly V3Event[];
};

/** The parts of an exchange that never change. */
export type V3Stage = {
  readonly seed: number;
  readonly pools: readonly GenesisPool[];
  /** Maximum number of random trades in a block. */
  readonly tradesPerBlock: number;
};

/** Which block is made: its height, a number that distinguishes blocks of one height, and what tokens are worth then. */
type Moment = {
  readonly height: number;
  readonly version: number;
  readonly usdOf: (token: ChainToken) => number;
};

/** The exchange at its first block: its pools have the prices of that time, and orders around them. */
export function firstV3Block({ seed, pools }: V3Stage, { height, usdOf }: Moment): V3Block {
  const random = createRandom(seed, 'first exchange', height);
  const states = pools.map((pool): [string, PoolState] => {
    if (pool.market === undefined) return [pool.id, pool.initial];
    const settled = atRatio(pool.initial, fairRatio(pool, usdOf));
    const orders = Array.from({ length: ORDERS_OF_POOL }, () => orderNear(pool, settled, random));
    return [pool.id, { ...settled, orders: orders.sort(byPlaceInList) }];
  });
  return { states: new Map(states), events: [] };
}

/** Makes the next block of an exchange in the node's order: withdrawals, trades, spent orders, contributions, new orders. */
export function nextV3Block(stage: V3Stage, previous: V3Block, moment: Moment): V3Block {
  const { pools, tradesPerBlock } = stage;
  const random = createRandom(stage.seed, 'exchange', moment.height, moment.version);
  const params = paramsAt(
    moment.height - 1,
    pools.map(({ id }) => id),
  );
  const traded = pools.filter(({ market }) => market !== undefined);
  const states = new Map(previous.states);
  const events: V3Event[] = [];
  // The first pools have the most trades.
  const somePool = () => traded[Math.floor(random.unit() ** 1.5 * traded.length)];
  const change = (pool: GenesisPool, after: Partial<PoolState>, event: V3Event) => {
    const before = states.get(pool.id) ?? pool.initial;
    states.set(pool.id, { ...before, ...after });
    events.push(event);
  };
  const liquidity = random.chance(1 / 8) ? liquidityOf(somePool(), states, random) : undefined;

  if (liquidity && liquidity.amounts[0] < 0n) change(liquidity.pool, liquidity.after, liquidity);
  const owner = random.chance(1 / 4) ? somePool() : undefined;
  const withdrawn = owner && withdrawalOf(owner, states, random);
  if (withdrawn) change(withdrawn.pool, withdrawn.after, withdrawn);

  const situation = {
    traded,
    pools: { all: new Map(pools.map((pool) => [pool.id, pool])), states },
    params,
    usdOf: moment.usdOf,
  };
  const wishes = Array.from({ length: random.below(tradesPerBlock + 1) }, somePool);
  const requests = [
    ...wishes.map((pool) => pool && tradeAtRandom(pool, situation, random)),
    ...traded.map((pool) => arbitrage(pool, situation, random)),
  ].filter((request) => request !== undefined);
  const executed = executeTrades(situation.pools, params, requests);
  for (const [id, state] of executed.states) states.set(id, state);
  for (const trade of executed.trades) events.push({ kind: 'trade', trade });

  for (const spent of spentOrders(traded, states, params)) {
    const orders = withoutBalance(states.get(spent.pool.id)?.orders ?? [], spent.order.id, spent.side);
    change(spent.pool, { orders }, spent);
  }
  if (liquidity && liquidity.amounts[0] >= 0n) change(liquidity.pool, liquidity.after, liquidity);
  for (let count = random.below(4); count > 0; count--) {
    const pool = somePool();
    const state = pool && states.get(pool.id);
    if (!pool || !state || state.orders.length >= MAX_ORDERS || state.real[0] === 0n) continue;
    const order = orderNear(pool, state, random);
    if (state.orders.filter(({ nft }) => nft === order.nft).length >= params.maxOrdersPerNft) continue;
    change(pool, { orders: withOrder(state.orders, order) }, { kind: 'order', pool, order });
  }
  return { states, events };
}

/** A pool with the same product of its amounts, and another price. */
function atRatio(pool: PoolState, ratio: number): PoolState {
  const moved = ([amount0, amount1]: Amounts): Amounts => {
    const product = Number(amount0) * Number(amount1);
    return [BigInt(Math.round(Math.sqrt(product / ratio))), BigInt(Math.round(Math.sqrt(product * ratio)))];
  };
  const real = moved(pool.real);
  // What is virtual only is multiplied alike, so that virtual amounts are never below the real ones.
  const factor = (virtual: bigint, amount: bigint, initial: bigint) => (amount * virtual) / initial;
  const virtual: Amounts = [
    factor(pool.virtual[0], real[0], pool.real[0]),
    factor(pool.virtual[1], real[1], pool.real[1]),
  ];
  return { ...pool, real, virtual, shares: squareRoot(real[0] * real[1]) };
}

/** Liquidity that a provider adds or removes: up to two percent of a pool. */
function liquidityOf(pool: GenesisPool | undefined, states: ReadonlyMap<string, PoolState>, random: Random) {
  const state = pool && states.get(pool.id);
  if (!pool || !state || state.shares === 0n) return undefined;
  const { real, virtual, shares } = state;
  const isCrowded = real[0] > (pool.initial.real[0] * 5n) / 4n || real[1] > (pool.initial.real[1] * 5n) / 4n;
  const isSmall = real[0] < pool.initial.real[0] / 2n || real[1] < pool.initial.real[1] / 2n;
  const isRemoved = isCrowded || (!isSmall && random.chance(0.5));
  const part = (shares * BigInt(5 + random.below(200))) / 10_000n;
  const more = isRemoved ? -part : part;
  const amounts: Amounts = [(real[0] * more) / shares, (real[1] * more) / shares];
  const after = { real: changed(real, amounts), shares: shares + more };
  const grown = (amount: bigint, least: bigint) => {
    const scaled = (amount * after.shares) / shares;
    return scaled > least ? scaled : least;
  };
  const isAmplified = pool.amplifier > 10_000;
  const virtualAfter: Amounts = isAmplified
    ? [grown(virtual[0], after.real[0]), grown(virtual[1], after.real[1])]
    : changed(virtual, amounts);
  return { kind: 'liquidity' as const, pool, id: random.hex(64), amounts, after: { ...after, virtual: virtualAfter } };
}

/** What an owner takes out of an order: what was bought, or everything that is left to sell. */
function withdrawalOf(pool: GenesisPool, states: ReadonlyMap<string, PoolState>, random: Random) {
  const orders = states.get(pool.id)?.orders ?? [];
  const order = orders[random.below(Math.max(1, orders.length))];
  if (order === undefined) return undefined;
  const side: Side = order.balances[0] > 0n && (order.balances[1] === 0n || random.chance(0.5)) ? 0 : 1;
  return { kind: 'withdrawal' as const, pool, order, side, after: { orders: withoutBalance(orders, order.id, side) } };
}

/** The balances of orders that nobody can match any more, which the node pays out: some for each shard, so that some orders linger. */
function spentOrders(
  pools: readonly GenesisPool[],
  states: ReadonlyMap<string, PoolState>,
  { closedOrdersPerShard }: Params,
) {
  const left = new Map<number, number>();
  const spent: Extract<V3Event, { kind: 'withdrawal' }>[] = [];
  for (const pool of pools) {
    for (const order of states.get(pool.id)?.orders ?? []) {
      if (isMatchable(order)) continue;
      const shard = shardOf(order);
      const room = left.get(shard) ?? closedOrdersPerShard;
      if (room === 0) continue;
      left.set(shard, room - 1);
      const sides = ([0, 1] as const).filter((side) => order.balances[side] > 0n);
      for (const side of sides) spent.push({ kind: 'withdrawal', pool, order, side });
    }
  }
  return spent;
}
