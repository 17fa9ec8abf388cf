import type { Random } from '../../src/sandbox/chain/random.ts';
import { type Client, pause, pick, type SoakContext } from '../context.ts';
import { listMismatch } from '../expected/market.ts';
import { expectedPools, POOL_FIELDS, type PoolResult, pinned } from '../expected/pools.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';
import type { Operation } from '../judge.ts';

type Page = {
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
  readonly nodes: readonly PoolResult[];
  readonly totalCount: number;
};

/** Reads all pools page by page while new blocks arrive. Every page must be of the height of the first. */
export const readPages: Client = async (context, name, random) => {
  const client = createHttpClient(context, name);
  while (!context.signal.aborted) {
    await walk(context, random, client);
    await pause(random, 100, 800 / context.load, context.signal);
  }
  await client.close();
};

async function walk(context: SoakContext, random: Random, client: HttpClient) {
  const first = pick(random, [5, 9, 20]);
  const nonEmpty = random.chance(0.5);
  let read = 0;
  let height: number | undefined;
  let after: string | null = null;

  for (let more = true; more && !context.signal.aborted; ) {
    const operation = pageQuestion(context, { first, nonEmpty, after }, read, height);
    const answer = await client.execute(operation);
    const page = answer?.data?.['poolPairs'] as Page | null | undefined;
    if (!page) return;
    height = page.nodes[0]?.beaconHeight;
    read += page.nodes.length;
    after = page.pageInfo.endCursor;
    more = page.pageInfo.hasNextPage;
    await pause(random, 0, 1_500, context.signal);
  }
  if (!context.signal.aborted) context.judge.count('walks through all pages');
}

type Variables = { readonly first: number; readonly nonEmpty: boolean; readonly after: string | null };

function pageQuestion(context: SoakContext, variables: Variables, start: number, of: number | undefined): Operation {
  const { chain } = context.shown;
  return {
    kind: 'a page of pools',
    query: `query ($first: Int!, $after: String, $nonEmpty: Boolean!) {
      beaconHeight
      poolPairs(first: $first, after: $after, filter: { nonEmpty: $nonEmpty }) {
        totalCount pageInfo { endCursor hasNextPage } nodes { ${POOL_FIELDS} }
      }
    }`,
    variables,
    check(data, times) {
      const { beaconHeight, poolPairs } = data as { beaconHeight?: number; poolPairs?: Page };
      if (beaconHeight === undefined || poolPairs === undefined) return undefined;
      const { nodes, totalCount, pageInfo } = poolPairs;
      const height = nodes[0]?.beaconHeight ?? 0;
      if (height !== (of ?? beaconHeight)) return `a page of ${height} instead of ${of ?? beaconHeight}`;

      return (
        context.served.mismatch(beaconHeight, times, () => undefined) ??
        context.served.mismatchAt(height, (block) => {
          const pools = [...expectedPools(chain, block).values()];
          const withLiquidity = pools.filter(
            ({ token1PoolValue, token2PoolValue }) => token1PoolValue !== '0' && token2PoolValue !== '0',
          );
          const empty = pools.filter((pool) => !withLiquidity.includes(pool));
          const all = variables.nonEmpty ? withLiquidity : [...withLiquidity, ...empty];
          const expected = all.slice(start, start + variables.first);
          const isCurrent = height === beaconHeight;
          if (totalCount !== all.length) return `totalCount is ${totalCount} instead of ${all.length}`;
          if (pageInfo.hasNextPage !== start + variables.first < all.length) return 'hasNextPage';
          return listMismatch(nodes, isCurrent ? expected : expected.map(pinned), 'nodes');
        })
      );
    },
  };
}
