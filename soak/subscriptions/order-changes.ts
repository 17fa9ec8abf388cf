import type { Block } from '../../src/sandbox/chain/block.ts';
import type { ShownBlocks } from '../shown-blocks.ts';

/** Whether the orders of pools have changed between two updates. */
type OrderChanges = {
  /**
   * `certainly` if they differ from those of all blocks that the update before can be of. `maybe` if they differ from those of
   * any block since then: a subscriber who skips a block that was replaced can get a pool that is as it was.
   */
  changed(id: string, block: Block): 'certainly' | 'maybe' | 'not';
};

/** Compares the orders in the updates of two heights. The first update, without a height before it, has no changes. */
export function createOrderChanges(shown: ShownBlocks, before: number | undefined, height: number): OrderChanges {
  if (before === undefined) return { changed: () => 'not' };
  const then = shown.at(before);
  const since = Array.from({ length: Math.max(0, height - before) }, (_, n) => shown.at(before + 1 + n)).flat();

  return {
    changed(id, block) {
      const poolId = id.replace('PoolPair:', '');
      const now = ordersOf(poolId, block);
      const differs = (other: Block) => ordersOf(poolId, other) !== now;
      if (then.length > 0 && then.every(differs)) return 'certainly';
      return [...then, ...since].some(differs) ? 'maybe' : 'not';
    },
  };
}

function ordersOf(poolId: string, { v3 }: Block): string {
  const orders = v3?.states.get(poolId)?.orders ?? [];
  return orders.map(({ id, balances }) => `${id} ${balances.join(' ')}`).join();
}
