import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { idOfMarket, isV3, tradingPools } from '../expected/exchange.ts';
import { fieldMismatch, listMismatch } from '../expected/market.ts';
import { expectedPoolOf, expectedPools, POOL_FIELDS, type PoolResult, pinned } from '../expected/pools.ts';
import type { Operation } from '../judge.ts';

/** Number of heights that all nodes of a run retain. */
export const WHOLE_HISTORY = 2_000;

type Data = {
  readonly beaconHeight?: number;
  readonly all?: { readonly nodes: readonly PoolResult[] } | null;
  /** Current data in a field that is read after an earlier height. */
  readonly late?: { readonly pairs: readonly unknown[] } | null;
};

/** Near the tip, where blocks are not final; within the heights that the gateway caches; and beyond. */
const REACHES = [3, 12, 60, WHOLE_HISTORY];

/** Pools at the current height and at several earlier heights, at most `reach` back. */
export function pastHeightsQuery(
  { shown, served }: SoakContext,
  random: Random,
  reach = pick(random, REACHES),
): Operation {
  const { chain } = shown;
  // The gateway may be behind the tip. The highest height that it served is available.
  const tip = served.highest();
  const heights = Array.from({ length: 1 + random.below(4) }, () =>
    Math.max(chain.oldestHeight, tip - 1 - random.below(reach - 1)),
  );
  const pool = pick(random, tradingPools(chain));
  const [byTokens, byId] = ['poolPair(token1Id: $a, token2Id: $b', 'pool(poolId: $poolId'];
  const one = isV3(chain) && random.chance(0.5) ? byId : byTokens;
  const aliases = heights.map((height, index) => `at${index}: ${one}, at: ${height})`);
  const late = isV3(chain) ? byId : byTokens;
  const declared = { [byTokens]: '$a: TokenId!, $b: TokenId!', [byId]: '$poolId: String!' };
  const [first = tip - 1] = heights;
  const isLateExpected = tradingPools(chain, first).some(({ id }) => id === pool.id);
  const pairs = chain.markets.filter((market) => idOfMarket(chain, market) === pool.id);

  return {
    kind: 'earlier heights',
    query: `query (${[...new Set([one, late])].map((each) => declared[each]).join(', ')}) {
      ${aliases.map((alias) => `${alias} { ${POOL_FIELDS} }`).join('\n')}
      all: poolPairs(at: ${first}, first: 100, orderBy: ID_DESC) { nodes { ${POOL_FIELDS} } }
      late: ${late}, at: ${first}) { pairs { poolPair { ${POOL_FIELDS} } } }
      beaconHeight
    }`,
    variables: { a: pool.token1.id, b: pool.token2.id, poolId: pool.id },
    heights: { ...Object.fromEntries(heights.map((at, index) => [`at${index}`, at])), all: first, late: first },
    check(data, times) {
      const { beaconHeight, all, late } = data as Data;
      const poolMismatch = heights.map((height, index) => {
        const pastPool = data[`at${index}`] as PoolResult | null | undefined;
        if (pastPool === undefined) return undefined;
        return served.mismatchAt(height, (block) => {
          const named = expectedPools(chain, block).get(`PoolPair:${pool.id}`);
          const expected = one === byId ? named : expectedPoolOf(chain, block, pool);
          return listMismatch([pastPool], [expected ? pinned(expected) : null], `at ${height}`);
        });
      });
      const allMismatch = fieldMismatch(all, 'all', ({ nodes }) =>
        served.mismatchAt(first, (block) =>
          listMismatch(nodes, [...expectedPools(chain, block).values()].reverse().map(pinned), `poolPairs at ${first}`),
        ),
      );
      return (
        poolMismatch.find((mismatch) => mismatch !== undefined) ??
        allMismatch ??
        (beaconHeight === undefined
          ? undefined
          : served.mismatch(beaconHeight, times, (block) => {
              const now = expectedPools(chain, block).get(`PoolPair:${pool.id}`);
              const ofPairs = pairs.map(() => ({ poolPair: now }));
              if (late !== undefined && !isLateExpected) return listMismatch([late], [null], 'late');
              return fieldMismatch(late, 'late', (found) => listMismatch(found.pairs, ofPairs, 'late.pairs'));
            }))
      );
    },
  };
}

/** A height that is in the future, or that the nodes have pruned. */
export function unavailableHeightQuery({ shown: { chain } }: SoakContext, random: Random): Operation {
  const isPruned = random.chance(0.5);
  const height = isPruned ? chain.oldestHeight - 1 - random.below(100) : chain.tip.height + 1_000;
  return {
    kind: 'a missing height',
    query: `{ poolPairs(first: 1, at: ${height}) { totalCount } }`,
    fails: 'HEIGHT_NOT_AVAILABLE',
    // A node may retain what the others have pruned. The gateway cannot know while one of them cannot be read.
    ...(isPruned && { knownBy: 'NODE' }),
  };
}
