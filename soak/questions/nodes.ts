import type { Random } from '../../src/sandbox/chain/random.ts';
import type { Question } from '../judge.ts';
import { pick, type Stage } from '../stage.ts';
import { listMisfit } from '../truth/market.ts';
import { POOL_FIELDS, type PoolTold, pinned, poolsAt, tokenTold } from '../truth/pools.ts';

/** Objects read again by their ids, as a client's cache does: a token, a pool of now and one of an earlier height. */
export function askNodes({ shown, served }: Stage, random: Random): Question {
  const { chain } = shown;
  const pool = pick(random, chain.pools);
  const height = served.highest() - 5 - random.below(1_000);
  const id = `PoolPair:${pool.id}`;
  return {
    kind: 'objects by their ids',
    query: `query ($ids: [ID!]!) { beaconHeight nodes(ids: $ids) { ... on Token { tokenId symbol decimals } ... on PoolPair { ${POOL_FIELDS} } } }`,
    variables: { ids: [`Token:${pool.token1.id}`, id, `${id}@${height}`] },
    check(data, moment) {
      const { beaconHeight, nodes } = data as { beaconHeight?: number; nodes?: readonly (PoolTold | null)[] };
      if (beaconHeight === undefined || nodes === undefined) return undefined;
      const past = chain.block(height);
      const pastPool = past && poolsAt(chain, past).get(id);
      return served.misfit(beaconHeight, moment, (block) => {
        const expected = [
          tokenTold(pool.token1),
          poolsAt(chain, block).get(id) ?? null,
          pastPool ? pinned(pastPool) : null,
        ];
        return listMisfit(nodes, expected, 'nodes');
      });
    },
  };
}
