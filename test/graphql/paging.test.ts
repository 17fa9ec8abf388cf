import { beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { PoolPageDocument, type PoolPageQueryVariables } from '../support/generated/documents.ts';
import { ETH, PRV } from '../support/tokens.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const started = await startGateway();
  gateway = started;
  return started.close;
});

async function page(variables: PoolPageQueryVariables) {
  const { data, errors } = await gateway.ask(PoolPageDocument, variables);
  expect(errors).toBeUndefined();
  if (!data?.poolPairs) throw new Error('no page');
  return data.poolPairs;
}

async function walk(variables: PoolPageQueryVariables, first: number): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const { edges, pageInfo }: Awaited<ReturnType<typeof page>> = await page({ ...variables, first, after });
    ids.push(...edges.map(({ node }) => node.id));
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null);
  return ids;
}

describe('pages of pools', () => {
  test('paging in either direction visits each pool once, in each order', async () => {
    const ids = gateway.sandbox.chain.pools.map(({ token1, token2 }) => `PoolPair:${token1.id}-${token2.id}`).sort();
    expect(await walk({ orderBy: 'ID_ASC' }, 7)).toEqual(ids);
    expect(await walk({ orderBy: 'ID_DESC' }, 10)).toEqual(ids.toReversed());

    const byLiquidity = await walk({ orderBy: 'NATIVE_LIQUIDITY_DESC' }, 5);
    expect(byLiquidity.toSorted()).toEqual(ids);
    const natives = byLiquidity.map((id) => id.includes(PRV));
    expect(natives.lastIndexOf(true)).toBeLessThan(natives.indexOf(false));
  });

  test('without an order, pools with liquidity come first, and each list is in order of the ids', async () => {
    const { pools, tip } = gateway.sandbox.chain;
    const orderedAt = (
      { reserves }: { readonly reserves: Readonly<Record<number, bigint>> },
      isListed = (_id: string) => true,
    ) => {
      const isEmpty = (index: number) => reserves[index * 2] === 0n || reserves[index * 2 + 1] === 0n;
      const listed = pools
        .map(({ token1, token2, index }) => ({ id: `PoolPair:${token1.id}-${token2.id}`, isLast: isEmpty(index) }))
        .filter(({ id }) => isListed(id));
      return listed.sort((a, b) => Number(a.isLast) - Number(b.isLast) || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
    };
    const all = orderedAt(tip);
    expect(all).not.toEqual(all.toSorted());
    expect(await walk({}, 7)).toEqual(all);
    expect(await walk({ filter: { tokenId: PRV } }, 3)).toEqual(orderedAt(tip, (id) => id.includes(PRV)));

    const at = tip.height - 20;
    const earlier = gateway.sandbox.chain.block(at);
    if (earlier === undefined) throw new Error('no block');
    expect(await walk({ at }, 7)).toEqual(orderedAt(earlier).map((id) => `${id}@${at}`));

    const { edges } = await page({ first: 54 });
    const last = await page({ last: 5, before: edges[52]?.cursor ?? '' });
    expect(last.edges).toEqual(edges.slice(47, 52));
  });

  test('the next page comes from the same height, also after new blocks', async () => {
    const first = await page({ first: 50 });
    const height = gateway.sandbox.chain.tip.height;
    expect(first.edges[0]?.node).toEqual({ id: expect.not.stringContaining('@'), beaconHeight: height });

    await gateway.advance(3);
    gateway.sandbox.node.resetCalls();
    const second = await page({ first: 50, after: first.pageInfo.endCursor });
    expect(second.edges.map(({ node }) => node.beaconHeight)).toEqual([height, height, height, height]);
    expect(second.edges[0]?.node.id).toMatch(new RegExp(`@${height}$`));
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    await page({ first: 50, after: first.pageInfo.endCursor });
    expect(gateway.sandbox.node.calls('getpdestate')).toBe(1);
  });

  test('`before` returns the pools before a cursor', async () => {
    const all = await page({ first: 54 });
    const middle = all.edges[20];
    const before = await page({ last: 5, before: middle?.cursor ?? '' });
    expect(before.edges).toEqual(all.edges.slice(15, 20));
    expect(before.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: true,
      startCursor: all.edges[15]?.cursor,
      endCursor: all.edges[19]?.cursor,
    });
  });

  test('a page has 50 pools by default, and none for size 0', async () => {
    expect((await page({})).edges).toHaveLength(50);
    expect(await page({ first: 0 })).toEqual({
      totalCount: 54,
      edges: [],
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  test('a filter returns the pools that match every field of it', async () => {
    const { pools } = gateway.sandbox.chain;
    const withEth = pools.filter(({ token1, token2 }) => [token1.id, token2.id].includes(ETH));
    expect((await page({ filter: { tokenId: ETH } })).totalCount).toBe(withEth.length);
    const named = pools.filter(({ token1, token2 }) =>
      [token1.symbol, token2.symbol].some((s) => s === 'BTC' || s === 'FXC'),
    );
    expect((await page({ filter: { symbols: ['BTC', 'FXC'] } })).totalCount).toBe(named.length);
    expect((await page({ filter: { symbols: [] } })).totalCount).toBe(0);
    expect((await page({ filter: { nonEmpty: true } })).totalCount).toBe(51);
  });

  test('a cursor with another filter, order or height is refused, and so is a text that is not a cursor', async () => {
    const after = (await page({ first: 1 })).pageInfo.endCursor;
    const byId = (await page({ first: 1, orderBy: 'ID_ASC' })).pageInfo.endCursor;
    const misuses: PoolPageQueryVariables[] = [
      { after, filter: { nonEmpty: true } },
      { after, orderBy: 'ID_DESC' },
      { after: byId },
      { after, at: gateway.sandbox.chain.tip.height - 1 },
      { after: 'nonsense' },
      { after: '' },
      { before: Buffer.from('1:2:3').toString('base64url') },
      { first: 1, last: 1 },
      { first: -1 },
      { last: -1 },
      { first: 501 },
      { last: 2_147_483_647, at: gateway.sandbox.chain.tip.height - 1 },
    ];
    for (const misuse of misuses) {
      const { data, errors } = await gateway.ask(PoolPageDocument, misuse);
      expect([misuse, data, errors?.map(({ extensions }) => extensions.code)]).toEqual([
        misuse,
        { poolPairs: null },
        ['BAD_USER_INPUT'],
      ]);
    }
  });
});
