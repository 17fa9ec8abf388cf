import { beforeAll, describe, expect, test } from 'vitest';
import { parseExactly } from '../../../src/sandbox/http/exact-json.ts';
import type { SandboxHosts } from '../../../src/sandbox/sandbox.ts';
import { instructionsOf } from '../../../src/sandbox/v3/instructions.ts';
import { byPlaceInList, isMatchable, type Order, type PoolState } from '../../../src/sandbox/v3/pool.ts';
import { fixedSandbox } from '../support.ts';

type Content = Record<string, unknown>;

/** Applies the instructions of a block to the pools, as a reader of the chain does: it knows the instructions alone. */
function applied(before: ReadonlyMap<string, PoolState>, instructions: readonly (readonly string[])[]) {
  const pools = new Map(before);
  const big = (value: unknown) => BigInt(value as bigint);
  const add = (amounts: readonly [bigint, bigint], changes: readonly unknown[], sign = 1n): [bigint, bigint] => [
    amounts[0] + sign * big(changes[0]),
    amounts[1] + sign * big(changes[1]),
  ];
  const pool = (id: unknown): PoolState => {
    const found = pools.get(String(id));
    if (found === undefined) throw new Error(`no pool ${id}`);
    return found;
  };
  const tokensOf = (id: unknown) => String(id).split('-');

  for (const [type, status, , , text = '{}'] of instructions) {
    if (status !== '1') continue;
    const { Content: content } = parseExactly(text) as { Content: Content };
    if (type === '285') {
      const { TradePath, PairChanges, OrderChanges } = content as Record<string, unknown[]>;
      for (const [i, id] of (TradePath ?? []).entries()) {
        const { real, virtual, orders, ...rest } = pool(id);
        const change = PairChanges?.[i] as unknown[];
        const ofOrders = new Map(Object.entries(OrderChanges?.[i] as Record<string, unknown[]>));
        pools.set(String(id), {
          ...rest,
          real: add(real, change),
          virtual: add(virtual, change),
          orders: orders.map((order) => {
            const orderChange = ofOrders.get(order.id);
            return orderChange ? { ...order, balances: add(order.balances, orderChange) } : order;
          }),
        });
      }
    }
    if (type === '289') {
      const state = pool(content['PoolPairID']);
      const side = tokensOf(content['PoolPairID']).indexOf(String(content['TokenID']));
      const taken = side === 0 ? [content['Amount'], 0n] : [0n, content['Amount']];
      const orders = state.orders.flatMap((order) => {
        if (order.id !== content['OrderID']) return [order];
        const balances = add(order.balances, taken, -1n);
        return balances[0] === 0n && balances[1] === 0n ? [] : [{ ...order, balances }];
      });
      pools.set(String(content['PoolPairID']), { ...state, orders });
    }
    if (type === '287') {
      const state = pool(content['PoolPairID']);
      const order: Order = {
        id: String(content['OrderID']),
        nft: String(content['NftID']),
        receivers: content['Receiver'] as [string, string],
        sells: content['TradeDirection'] as 0 | 1,
        rates: [big(content['Token0Rate']), big(content['Token1Rate'])],
        balances: [big(content['Token0Balance']), big(content['Token1Balance'])],
      };
      pools.set(String(content['PoolPairID']), { ...state, orders: [...state.orders, order].sort(byPlaceInList) });
    }
  }
  return pools;
}

describe('blocks of V3', () => {
  let chain: SandboxHosts['chain'];
  beforeAll(async () => {
    await using sandbox = await fixedSandbox({ exchange: 'v3', history: 300 });
    chain = sandbox.chain;
  });

  test('the state of a block is that of the block before, and its instructions', () => {
    const seen = new Set<string>();
    for (let height = chain.oldestHeight + 1; height <= chain.tip.height; height++) {
      const [before, block] = [chain.block(height - 1)?.v3, chain.block(height)];
      if (!before || !block?.v3) throw new Error('no exchange');
      const instructions = instructionsOf(chain.seed, block, block.v3);
      for (const [type, status] of instructions) seen.add(`${type} ${status}`);

      // Liquidity moves by shares, which the instruction does not have.
      const moved = new Set(block.v3.events.flatMap((event) => (event.kind === 'liquidity' ? [event.pool.id] : [])));
      const expected = applied(before.states, instructions);
      for (const [id, state] of block.v3.states) {
        if (moved.has(id)) expect(state.orders).toEqual(expected.get(id)?.orders);
        else expect(state).toEqual(expected.get(id));
      }
    }
    // All kinds of instructions have occurred.
    const kinds = ['285 1', '285 0', '287 1', '289 1', '281 matched', '283 accepted', '280 0'];
    expect(kinds.filter((kind) => !seen.has(kind))).toEqual([]);
  });

  test('trades go through curves, orders and several pools, and spent orders linger', () => {
    const blocks = [...chain.blocks()];
    const trades = blocks.flatMap(({ v3 }) =>
      (v3?.events ?? []).flatMap((event) =>
        event.kind === 'trade' && !('because' in event.trade) ? [event.trade] : [],
      ),
    );
    expect(trades.some(({ orderChanges }) => orderChanges.some((changes) => changes.size > 1))).toBe(true);
    const lengths = new Set(trades.map(({ request }) => request.path.length));
    expect([...lengths].sort()).toEqual([1, 2, 3, 4, 5]);
    expect(trades.some(({ request, pairChanges }) => request.path.length === 1 && pairChanges[0]?.[0] === 0n)).toBe(
      true,
    );
    const lingering = blocks.some(({ v3 }) =>
      [...(v3?.states.values() ?? [])].some(({ orders }) => orders.some((order) => !isMatchable(order))),
    );
    expect(lingering).toBe(true);
  });

  test('the same seed results in the same blocks, and another version of a block in another one', async () => {
    await using one = await fixedSandbox({ exchange: 'v3', history: 20 });
    await using other = await fixedSandbox({ exchange: 'v3', history: 20 });
    expect(one.chain.tip.v3).toEqual(other.chain.tip.v3);
    other.replaceTip();
    expect(one.chain.tip.v3).not.toEqual(other.chain.tip.v3);
  });
});
