import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { tradingPools } from '../expected/exchange.ts';
import { listMismatch } from '../expected/market.ts';
import { expectedPools, expectedToken, POOL_FIELDS, type PoolResult, pinned } from '../expected/pools.ts';
import type { Operation } from '../judge.ts';

/** Objects by their ids, as a client's cache refetches them: a token, a current pool and a pool at an earlier height. */
export function nodesQuery({ shown, served }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  const pool = pick(random, tradingPools(chain));
  const height = served.highest() - 5 - random.below(1_000);
  const id = `PoolPair:${pool.id}`;
  return {
    kind: 'objects by their ids',
    query: `query ($ids: [ID!]!) { beaconHeight nodes(ids: $ids) { ... on Token { tokenId symbol decimals } ... on PoolPair { ${POOL_FIELDS} } } }`,
    variables: { ids: [`Token:${pool.token1.id}`, id, `${id}@${height}`] },
    heights: { nodes: height },
    check(data, times) {
      const { beaconHeight, nodes } = data as { beaconHeight?: number; nodes?: readonly (PoolResult | null)[] };
      if (beaconHeight === undefined || nodes === undefined) return undefined;
      const past = chain.block(height);
      const pastPool = past && expectedPools(chain, past).get(id);
      return served.mismatch(beaconHeight, times, (block) => {
        const expected = [
          expectedToken(pool.token1),
          expectedPools(chain, block).get(id) ?? null,
          pastPool ? pinned(pastPool) : null,
        ];
        return listMismatch(nodes, expected, 'nodes');
      });
    },
  };
}
