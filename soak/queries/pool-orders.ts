import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { amountsAt, isV3, tradingPools } from '../expected/exchange.ts';
import { fieldMismatch, listMismatch } from '../expected/market.ts';
import { isMatchable } from '../expected/pool-swap.ts';
import type { Operation } from '../judge.ts';
import { poolQuery } from './heads.ts';

type Data = {
  readonly beaconHeight?: number;
  readonly pool?: { readonly orders: readonly unknown[] | null } | null;
};

/** How far back the earlier height is, at most. */
const REACH = 60;

/** The orders of a pool of V3 that sell one of its tokens, best first: at the current height, or at an earlier one. */
export function poolOrdersQuery(context: SoakContext, random: Random): Operation {
  const { shown, served } = context;
  const { chain } = shown;
  if (!isV3(chain)) return poolQuery(context, random);
  const pool = pick(random, tradingPools(chain));
  const sells = random.chance(0.5) ? 0 : 1;
  const [sold, bought] = sells === 0 ? [pool.token1.id, pool.token2.id] : [pool.token2.id, pool.token1.id];
  const at = random.chance(0.5) ? served.highest() - 1 - random.below(REACH) : undefined;

  function expectedAt(block: Block): readonly unknown[] {
    const listed = amountsAt(pool, block).orders.filter((order) => order.sells === sells);
    // A trade meets sellers of token 2 from the end of the list.
    return (sells === 0 ? listed : listed.toReversed()).map((order) => ({
      id: order.id,
      sellAmount: String(order.balances[sells]),
      boughtAmount: String(order.balances[sells === 0 ? 1 : 0]),
      isMatchable: isMatchable(order),
      sellToken: { tokenId: sold },
      buyToken: { tokenId: bought },
    }));
  }

  return {
    kind: 'orders of a pool',
    query: `query ($poolId: String!, $sells: TokenId!, $at: BeaconHeight) {
      beaconHeight
      pool(poolId: $poolId, at: $at) {
        orders(sells: $sells, first: 500) {
          id sellAmount boughtAmount isMatchable sellToken { tokenId } buyToken { tokenId }
        }
      }
    }`,
    variables: { poolId: pool.id, sells: sold, at },
    ...(at !== undefined && { heights: { pool: at } }),
    check({ beaconHeight, pool: found }: Data, times) {
      if (beaconHeight === undefined) return undefined;
      return fieldMismatch(found, 'pool', ({ orders }) =>
        fieldMismatch(orders, 'orders', (rows) => {
          const ofBlock = (block: Block) => listMismatch(rows, expectedAt(block), 'orders');
          return at === undefined ? served.mismatch(beaconHeight, times, ofBlock) : served.mismatchAt(at, ofBlock);
        }),
      );
    },
  };
}
