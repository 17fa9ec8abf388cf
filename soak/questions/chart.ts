import type { Random } from '../../src/sandbox/chain/random.ts';
import type { Question } from '../judge.ts';
import { pick, type Stage } from '../stage.ts';
import { listMisfit } from '../truth/market.ts';
import { POOL_FIELDS, type PoolTold, pinned, poolsAt } from '../truth/pools.ts';

/** As many heights as one operation may read beside its own. */
const POINTS = 64;

/** Which part of a chart: how far its points lie apart, and how many parts lie between it and the tip. */
type Part = { readonly page: number; readonly step: number };

/** One pool at many earlier heights: a part of a chart. */
export function askChart({ shown, served }: Stage, random: Random, { page, step }: Part): Question {
  const { chain } = shown;
  const pool = pick(random, chain.pools);
  const newest = served.highest() - 1 - page * POINTS * step;
  const heights = Array.from({ length: POINTS }, (_, point) => newest - point * step).filter(
    (height) => height >= chain.oldestHeight,
  );
  const points = heights.map((at) => `h${at}: poolPair(token1Id: $a, token2Id: $b, at: ${at}) { ${POOL_FIELDS} }`);
  return {
    kind: 'a part of a chart',
    query: `query ($a: TokenId!, $b: TokenId!) { __typename ${points.join('\n')} }`,
    variables: { a: pool.token1.id, b: pool.token2.id },
    // Whoever asks for this much at once may have to wait longer than there is time.
    mayFailWith: ['UPSTREAM_TIMEOUT', 'UPSTREAM_BUSY'],
    check(data) {
      for (const height of heights) {
        const told = data[`h${height}`] as PoolTold | null | undefined;
        if (told === undefined) continue;
        const misfit = served.misfitAt(height, (block) => {
          const expected = poolsAt(chain, block).get(`PoolPair:${pool.id}`);
          return listMisfit([told], [expected ? pinned(expected) : null], `at ${height}`);
        });
        if (misfit !== undefined) return misfit;
      }
      return undefined;
    },
  };
}
