import { readFileSync } from 'node:fs';
import type { PoolSnapshot, Snapshot } from '../snapshot.ts';

/** The gateway's own schema. */
export const typeDefs = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');

type PoolKey = { readonly token1Id: string; readonly token2Id: string };

const { beaconHeight, pools } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Snapshot;
const byTokens = new Map(pools.map((pool) => [keyOf(pool.token1.tokenId, pool.token2.tokenId), pool]));
const indexes = new Map(pools.map(({ cursor }, index) => [cursor, index]));

/** The resolvers of the fields that the bench requests, over a snapshot in memory: no data can be read faster. */
export const resolvers = {
  Query: {
    beaconHeight: () => beaconHeight,
    poolPair: (_root: unknown, key: PoolKey) => findPool(key),
    poolPairs(_root: unknown, { first = 50, after }: { first?: number; after?: string | null }) {
      const start = after == null ? 0 : (indexes.get(after) ?? pools.length) + 1;
      const nodes = pools.slice(start, start + first);
      return {
        totalCount: pools.length,
        nodes,
        pageInfo: {
          hasNextPage: start + first < pools.length,
          hasPreviousPage: start > 0,
          startCursor: nodes[0]?.cursor,
          endCursor: nodes.at(-1)?.cursor,
        },
      };
    },
  },
};

/** An update of `prices` for some pools. */
export function priceUpdate(keys: readonly PoolKey[], observedAt: string) {
  const found = keys.map(findPool).filter((pool) => pool !== undefined);
  return { beaconHeight, observedAt, poolPairs: found.sort((one, other) => (one.id < other.id ? -1 : 1)) };
}

function findPool({ token1Id, token2Id }: PoolKey): PoolSnapshot | undefined {
  return byTokens.get(keyOf(token1Id, token2Id));
}

function keyOf(one: string, other: string): string {
  return one < other ? `${one}-${other}` : `${other}-${one}`;
}
