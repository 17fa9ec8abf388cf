import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { isV3, tradingPools } from '../expected/exchange.ts';
import { listMismatch } from '../expected/market.ts';
import { expectedPools, POOL_FIELDS, type PoolResult, pinned } from '../expected/pools.ts';
import type { Operation } from '../judge.ts';
import { DEFAULT_LIMITS } from './service.ts';

const POINTS = DEFAULT_LIMITS.maxHeightsPerOperation;

/** A part of a chart: the distance of its points, and the number of parts between it and the tip. */
type Part = { readonly page: number; readonly step: number };

/** One pool at many earlier heights: a part of a chart. */
export function chartQuery({ shown, served }: SoakContext, random: Random, { page, step }: Part): Operation {
  const { chain } = shown;
  const selected = pick(random, tradingPools(chain));
  const newest = served.highest() - 1 - page * POINTS * step;
  const heights = Array.from({ length: POINTS }, (_, point) => newest - point * step).filter(
    (height) => height >= chain.oldestHeight,
  );
  const fields = `{ ...P }`;
  const [declared, point] = isV3(chain)
    ? ['$poolId: String!', 'pool(poolId: $poolId']
    : ['$a: TokenId!, $b: TokenId!', 'poolPair(token1Id: $a, token2Id: $b'];
  const points = heights.map((at) => `h${at}: ${point}, at: ${at}) ${fields}`);
  return {
    kind: 'a part of a chart',
    query: `query (${declared}) { __typename ${points.join('\n')} } fragment P on PoolPair { ${POOL_FIELDS} }`,
    variables: isV3(chain) ? { poolId: selected.id } : { a: selected.token1.id, b: selected.token2.id },
    heights: Object.fromEntries(heights.map((height) => [`h${height}`, height])),
    // So many requests at once may wait in the queue for longer than the timeout.
    mayFailWith: ['UPSTREAM_TIMEOUT', 'UPSTREAM_BUSY'],
    check(data) {
      for (const height of heights) {
        const pool = data[`h${height}`] as PoolResult | null | undefined;
        if (pool === undefined) continue;
        const mismatch = served.mismatchAt(height, (block) => {
          const expected = expectedPools(chain, block).get(`PoolPair:${selected.id}`);
          return listMismatch([pool], [expected ? pinned(expected) : null], `at ${height}`);
        });
        if (mismatch !== undefined) return mismatch;
      }
      return undefined;
    },
  };
}
