import { ask } from './ask.ts';

/** A pool as the gateway answers it, with its place in the list of all. */
export type PoolSnapshot = {
  readonly id: string;
  readonly token1: TokenSnapshot;
  readonly token2: TokenSnapshot;
  readonly [field: string]: unknown;
  /** What `after` goes on behind. */
  readonly cursor: string;
};

type TokenSnapshot = { readonly tokenId: string; readonly [field: string]: unknown };

/** All that the peers know, as the gateway answers it: pools in the order of their ids. */
export type Snapshot = { readonly beaconHeight: number; readonly pools: readonly PoolSnapshot[] };

const POOLS = `query Snapshot($after: String) {
  beaconHeight
  poolPairs(first: 500, after: $after) {
    edges {
      cursor
      node {
        id key beaconHeight token1PoolValue token2PoolValue price inversePrice spotPrice exactPrice
        token1 { id tokenId symbol decimals }
        token2 { id tokenId symbol decimals }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

type Page = {
  readonly beaconHeight: number;
  readonly poolPairs: {
    readonly edges: readonly { readonly cursor: string; readonly node: Omit<PoolSnapshot, 'cursor'> }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
  };
};

/** Reads all pools from the gateway, page by page. */
export async function takeSnapshot(url: string): Promise<Snapshot> {
  const pools: PoolSnapshot[] = [];
  for (let after: string | undefined; ; ) {
    const { beaconHeight, poolPairs } = await ask<Page>(url, { query: POOLS, variables: { after } });
    pools.push(...poolPairs.edges.map(({ cursor, node }) => ({ ...node, cursor }) as PoolSnapshot));
    if (!poolPairs.pageInfo.hasNextPage) return { beaconHeight, pools };
    after = poolPairs.pageInfo.endCursor;
  }
}
