import type { Random } from '../../src/sandbox/chain/random.ts';
import type { Question } from '../judge.ts';
import { pick, type Stage } from '../stage.ts';
import { listMisfit } from '../truth/market.ts';
import { POOL_FIELDS, type PoolTold, pinned, poolsAt } from '../truth/pools.ts';

/** As far back as the soak's nodes have kept everything. */
export const WHOLE_HISTORY = 2_000;

type Told = {
  readonly beaconHeight: number;
  readonly all?: { readonly nodes: readonly PoolTold[] };
  /** What is of now, though it is told after an earlier height was read. */
  readonly late?: { readonly pairs: readonly unknown[] } | null;
};

/** Near the tip, where blocks are not final; within what the gateway keeps; and beyond. */
const REACHES = [3, 12, 60, WHOLE_HISTORY];

/** Pools at several earlier heights beside the current one, not further back than that. */
export function askPast({ shown, served }: Stage, random: Random, reach = pick(random, REACHES)): Question {
  const { chain } = shown;
  // The gateway may be behind the tip, and an answer that it has given tells how far it is.
  const tip = served.highest();
  const heights = Array.from({ length: 1 + random.below(4) }, () =>
    Math.max(chain.oldestHeight, tip - 1 - random.below(reach - 1)),
  );
  const pool = pick(random, chain.pools);
  const aliases = heights.map((height, index) => `at${index}: poolPair(token1Id: $a, token2Id: $b, at: ${height})`);
  const [first = tip - 1] = heights;

  return {
    kind: 'earlier heights',
    query: `query ($a: TokenId!, $b: TokenId!) {
      ${aliases.map((alias) => `${alias} { ${POOL_FIELDS} }`).join('\n')}
      all: poolPairs(at: ${first}, first: 100, orderBy: ID_DESC) { nodes { ${POOL_FIELDS} } }
      late: poolPair(token1Id: $a, token2Id: $b, at: ${first}) { pairs { poolPair { ${POOL_FIELDS} } } }
      beaconHeight
    }`,
    variables: { a: pool.token1.id, b: pool.token2.id },
    check(data, moment) {
      const { beaconHeight, all, late } = data as Told;
      const poolMisfit = heights.map((height, index) => {
        const told = data[`at${index}`] as PoolTold | null | undefined;
        if (told === undefined) return undefined;
        return served.misfitAt(height, (block) => {
          const expected = poolsAt(chain, block).get(`PoolPair:${pool.id}`);
          return listMisfit([told], [expected ? pinned(expected) : null], `at ${height}`);
        });
      });
      const allMisfit =
        all &&
        served.misfitAt(first, (block) =>
          listMisfit(all.nodes, [...poolsAt(chain, block).values()].reverse().map(pinned), `poolPairs at ${first}`),
        );
      return (
        poolMisfit.find((misfit) => misfit !== undefined) ??
        allMisfit ??
        served.misfit(beaconHeight, moment, (block) => {
          const now = poolsAt(chain, block).get(`PoolPair:${pool.id}`);
          return late == null
            ? undefined
            : listMisfit(late.pairs, Array(late.pairs.length).fill({ poolPair: now }), 'late.pairs');
        })
      );
    },
  };
}

/** A height that is in the future, or that the nodes have pruned. */
export function askUnavailable({ shown: { chain } }: Stage, random: Random): Question {
  const isPruned = random.chance(0.5);
  const height = isPruned ? chain.oldestHeight - 1 - random.below(100) : chain.tip.height + 1_000;
  return {
    kind: 'a height that is not there',
    query: `{ poolPairs(first: 1, at: ${height}) { totalCount } }`,
    fails: 'HEIGHT_NOT_AVAILABLE',
    // Any node may have kept what the others have pruned: while one cannot be read, nothing is known to be gone.
    ...(isPruned && { knownBy: 'NODE' }),
  };
}
