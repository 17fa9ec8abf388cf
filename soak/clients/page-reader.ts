import type { Random } from '../../src/sandbox/chain/random.ts';
import { createHttpClient, type HttpClient } from '../ask.ts';
import type { Question } from '../judge.ts';
import { type Client, pause, pick, type Stage } from '../stage.ts';
import { listMisfit } from '../truth/market.ts';
import { POOL_FIELDS, type PoolTold, pinned, poolsAt } from '../truth/pools.ts';

type Page = {
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
  readonly nodes: readonly PoolTold[];
  readonly totalCount: number;
};

/** Walks through all pools, page by page, while the chain goes on: every page must be of the height of the first. */
export const readPages: Client = async (stage, name, random) => {
  const client = createHttpClient(stage, name);
  while (!stage.signal.aborted) {
    await walk(stage, random, client);
    await pause(random, 100, 800 / stage.load, stage.signal);
  }
  await client.close();
};

async function walk(stage: Stage, random: Random, client: HttpClient) {
  const first = pick(random, [5, 9, 20]);
  const nonEmpty = random.chance(0.5);
  let read = 0;
  let height: number | undefined;
  let after: string | null = null;

  for (let more = true; more && !stage.signal.aborted; ) {
    const question = pageQuestion(stage, { first, nonEmpty, after }, read, height);
    const answer = await client.ask(question);
    const page = answer?.data?.['poolPairs'] as Page | null | undefined;
    if (!page) return;
    height = page.nodes[0]?.beaconHeight;
    read += page.nodes.length;
    after = page.pageInfo.endCursor;
    more = page.pageInfo.hasNextPage;
    await pause(random, 0, 1_500, stage.signal);
  }
  if (!stage.signal.aborted) stage.judge.count('walks through all pages');
}

type Variables = { readonly first: number; readonly nonEmpty: boolean; readonly after: string | null };

function pageQuestion(stage: Stage, variables: Variables, start: number, of: number | undefined): Question {
  const { chain } = stage.shown;
  return {
    kind: 'a page of pools',
    query: `query ($first: Int!, $after: String, $nonEmpty: Boolean!) {
      beaconHeight
      poolPairs(first: $first, after: $after, filter: { nonEmpty: $nonEmpty }) {
        totalCount pageInfo { endCursor hasNextPage } nodes { ${POOL_FIELDS} }
      }
    }`,
    variables,
    check(data, moment) {
      const { beaconHeight, poolPairs } = data as { beaconHeight?: number; poolPairs?: Page };
      if (beaconHeight === undefined || poolPairs === undefined) return undefined;
      const { nodes, totalCount, pageInfo } = poolPairs;
      const height = nodes[0]?.beaconHeight ?? 0;
      if (height !== (of ?? beaconHeight)) return `a page of ${height} instead of ${of ?? beaconHeight}`;

      return (
        stage.served.misfit(beaconHeight, moment, () => undefined) ??
        stage.served.misfitAt(height, (block) => {
          const all = [...poolsAt(chain, block).values()].filter(
            ({ token1PoolValue, token2PoolValue }) =>
              !variables.nonEmpty || (token1PoolValue !== '0' && token2PoolValue !== '0'),
          );
          const expected = all.slice(start, start + variables.first);
          const isCurrent = height === beaconHeight;
          if (totalCount !== all.length) return `totalCount is ${totalCount} instead of ${all.length}`;
          if (pageInfo.hasNextPage !== start + variables.first < all.length) return 'hasNextPage';
          return listMisfit(nodes, isCurrent ? expected : expected.map(pinned), 'nodes');
        })
      );
    },
  };
}
