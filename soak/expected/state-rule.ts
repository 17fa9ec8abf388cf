import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import { parseExactly } from '../../src/sandbox/http/exact-json.ts';
import { instructionsOf } from '../../src/sandbox/v3/instructions.ts';
import type { PoolState } from '../../src/sandbox/v3/pool.ts';
import { ancestorOf, tradesOfBlock } from './trades.ts';

type Content = Readonly<Record<string, unknown>>;
type Balances = Readonly<Record<string, readonly [bigint, bigint]>>;

/**
 * Checks that the pools before a block, and its instructions, give the pools after it: their amounts, and the balances of their orders.
 * The pools of all responses are compared with the blocks, and so are the trades. So both are right together.
 *
 * @returns what differs
 */
export function stateMismatch(chain: Chain, block: Block): string | undefined {
  const before = ancestorOf(chain, block, block.height - 1)?.v3;
  if (before === undefined || block.v3 === undefined) return undefined;
  const trades = Map.groupBy(tradesOfBlock(chain, block), ({ poolId }) => poolId);
  const others = othersOf(chain, block);

  for (const [id, after] of block.v3.states) {
    const state = before.states.get(id);
    if (state === undefined) continue;
    const ofPool = trades.get(id) ?? [];
    const changed = (side: 0 | 1) => ofPool.reduce((sum, { change }) => sum + change[side], 0n);
    for (const side of [0, 1] as const) {
      // Providers change amounts by shares, which no instruction has.
      if (others.ofProviders.has(id)) continue;
      for (const kind of ['real', 'virtual'] as const)
        if (after[kind][side] !== state[kind][side] + changed(side))
          return `${kind}[${side}] of ${id} at ${block.height} is ${after[kind][side]}, and not ${state[kind][side]} + ${changed(side)}`;
    }
    const orders: Record<string, readonly [bigint, bigint]> = { ...balancesOf(state) };
    const add = (order: string, [one, two]: readonly [bigint, bigint]) => {
      const [one0, two0] = orders[order] ?? [0n, 0n];
      orders[order] = [one0 + one, two0 + two];
    };
    for (const { orderChanges } of ofPool) for (const [order, change] of orderChanges) add(order, change);
    for (const { poolId, order, change } of others.ofOrders) if (poolId === id) add(order, change);
    const expected = balancesOf(after);
    const differing = Object.keys({ ...orders, ...expected }).find(
      (order) => (orders[order] ?? [0n, 0n]).join() !== (expected[order] ?? [0n, 0n]).join(),
    );
    if (differing !== undefined)
      return `the order ${differing} of ${id} at ${block.height} has ${expected[differing]}, and not ${orders[differing]}`;
  }
  return undefined;
}

/** What the other instructions of a block say: pools whose providers came or left, new orders, and withdrawals from orders. */
function othersOf({ seed }: Chain, block: Block) {
  const ofProviders = new Set<string>();
  const ofOrders: { poolId: string; order: string; change: readonly [bigint, bigint] }[] = [];
  for (const instruction of instructionsOf(seed, block, block.v3)) {
    const [type] = instruction;
    const text = instruction.at(-1) ?? '';
    if (type === '281' || type === '283') ofProviders.add(String((parseExactly(text) as Content)['PoolPairID']));
    if (type !== '287' && type !== '289') continue;
    const { Content: content } = parseExactly(text) as { readonly Content: Content };
    const amount = (name: string) => BigInt(content[name] as number | bigint);
    const poolId = String(content['PoolPairID']);
    const isOfFirst = poolId.startsWith(String(content['TokenID']));
    const change =
      type === '287'
        ? ([amount('Token0Balance'), amount('Token1Balance')] as const)
        : isOfFirst
          ? ([-amount('Amount'), 0n] as const)
          : ([0n, -amount('Amount')] as const);
    ofOrders.push({ poolId, order: String(content['OrderID']), change });
  }
  return { ofProviders, ofOrders };
}

function balancesOf({ orders }: PoolState): Balances {
  return Object.fromEntries(orders.map(({ id, balances }) => [id, balances]));
}
