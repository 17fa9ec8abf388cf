import { request } from './graphql-client.ts';

/** A pool in a response of the gateway, with its cursor. */
export type PoolSnapshot = {
  readonly id: string;
  readonly token1: TokenSnapshot;
  readonly token2: TokenSnapshot;
  readonly [field: string]: unknown;
  readonly cursor: string;
};

type TokenSnapshot = { readonly tokenId: string; readonly [field: string]: unknown };

/** The data of the reference servers, from responses of the gateway: pools in the order of their ids. */
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
    const { beaconHeight, poolPairs } = await request<Page>(url, { query: POOLS, variables: { after } });
    pools.push(...poolPairs.edges.map(({ cursor, node }) => ({ ...node, cursor }) as PoolSnapshot));
    if (!poolPairs.pageInfo.hasNextPage) return { beaconHeight, pools };
    after = poolPairs.pageInfo.endCursor;
  }
}
