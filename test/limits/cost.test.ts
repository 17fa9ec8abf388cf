import { expect, test, vi } from 'vitest';
import { startGatewayForTests } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

const POOL = `poolPair(token1Id: "${PRV}", token2Id: "${BTC}")`;

const gateway = startGatewayForTests({ sandbox: { pools: 40, history: 30 }, config: { maxOperationsPerRequest: 3 } });

async function post(body: unknown, headers: Readonly<Record<string, string>> = { 'x-pdex-cost': '1' }) {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return response.json();
}

const costOf = async (query: string) => (await post({ query })).extensions.cost;

test('a request with the header x-pdex-cost gets the cost of its operation, each time', async () => {
  const query = '{ beaconHeight }';
  const answer = { data: { beaconHeight: expect.any(Number) } };
  const cost = { points: 1, complexity: 0.05, values: 1 };
  for (let n = 0; n < 3; n++) {
    expect(await post({ query })).toEqual({ ...answer, extensions: { cost } });
    expect(await post({ query }, {})).toEqual(answer);
    expect(await post({ query }, { 'x-pdex-cost': '0' })).toEqual(answer);
  }
  expect(await post([{ query }], { 'x-pdex-cost': '0' })).toEqual([answer]);
});

test('requests by GET, which are not cached, and each operation of an array have the cost too', async () => {
  const get = () => fetch(`${gateway.url}?query={beaconHeight}`, { headers: { 'x-pdex-cost': '1' } });
  for (let n = 0; n < 3; n++) {
    const response = await get();
    expect([response.headers.get('cache-control'), response.headers.get('etag')]).toEqual(['no-store', null]);
    expect((await response.json()).extensions).toEqual({ cost: expect.objectContaining({ points: 1 }) });
  }
  const results = await post([{ query: '{ beaconHeight }' }, { query: '{ tokens { symbol } }' }]);
  expect(results.map(({ extensions }: { extensions: object }) => extensions)).toEqual([
    { cost: expect.objectContaining({ points: 1 }) },
    { cost: await costOf('{ tokens { symbol } }') },
  ]);
});

test('the cost is there beside field errors, but not for an operation over a limit', async () => {
  const partly = await post({ query: '{ beaconHeight poolPairs(first: -1) { totalCount } }' });
  expect([partly.errors.length, partly.data.poolPairs, partly.extensions.cost.points]).toEqual([1, null, 2]);
  const refused = await post({
    query: `{ poolPairs(first: 500) { nodes { ${'pairs { poolPair { '.repeat(3)}id${' } }'.repeat(3)} } } }`,
  });
  expect([refused.errors[0].extensions.code, refused.extensions]).toEqual(['QUERY_TOO_COMPLEX', undefined]);
});

test.each(['', '@include(if: false)'])(
  'a list in an argument that is refused costs its values %s',
  async (condition) => {
    const query = `query ($percents: [Float!]) { poolPairs(first: 1) ${condition} { nodes { depth(percents: $percents) { percent } } } }`;
    const pointsOf = async (count: number) => {
      const { extensions } = await post({ query, variables: { percents: Array(count).fill(1) } });
      return extensions.cost.points;
    };
    expect(await pointsOf(101)).toBeLessThanOrEqual(6);
    expect(await pointsOf(10_000)).toBe(501);
  },
);

test('lists count with their current lengths', async () => {
  const { data } = await post({
    query: '{ tokens { symbol } pairs { id } tickers { id } chainInfo { bestBlocks { height } } }',
  });
  const { tokens, pairs, tickers, chainInfo } = data;
  const withAValue = (objects: number) => Math.ceil(Math.round(objects * 1.05 * 100) / 100);
  // Those of the token list that pools contain count twice.
  const { sources } = gateway.app.service;
  const inPools = (await sources.head.get()).exchange.directory.placesOfToken;
  expect(tokens.length).toBeLessThan(100);
  expect((await costOf('{ tokens { symbol } }')).points).toBe(withAValue(sources.tokens.current().size + inPools.size));
  expect((await costOf('{ pairs { id } }')).points).toBe(withAValue(pairs.length));
  expect((await costOf('{ tickers { id } }')).points).toBe(withAValue(tickers.length));
  expect((await costOf('{ chainInfo { bestBlocks { height } } }')).points).toBe(
    withAValue(chainInfo.bestBlocks.length) + 1,
  );
});

test.each(['pairs', 'tickers'])('%s that a filter selects by their ids count as at most that many', async (field) => {
  const { data } = await post({ query: `{ ${field} { id poolId tickerId } }` });
  const rows: { poolId: string; tickerId: string }[] = data[field];
  const [first, second] = rows;
  // The list itself is a value too.
  const length = async (filter: string) => (await costOf(`{ ${field}${filter} { id } }`)).values - 1;
  const everything = await costOf(`{ ${field} { id } }`);
  expect(everything.values).toBe(rows.length + 1);

  const two = await costOf(`{ ${field}(filter: { poolIds: ["${first?.poolId}", "${second?.poolId}"] }) { id } }`);
  expect(two.values).toBe(3);
  // The text of the two ids costs more than the two objects.
  expect(two.complexity).toBeLessThan(everything.complexity / 5);
  const sharing = rows.filter(({ tickerId }) => tickerId === first?.tickerId);
  expect(await length(`(filter: { tickerIds: ["${first?.tickerId}"] })`)).toBe(sharing.length);
  expect(await length('(filter: { poolIds: [] })')).toBe(0);
  // More ids than rows count as the rows. A filter without ids counts as the complete list.
  const ids = JSON.stringify(Array.from({ length: 90 }, (_, n) => `pool-${n}`));
  expect(await length(`(filter: { poolIds: ${ids} })`)).toBe(rows.length);
  expect(await length('(filter: { poolIds: null, base: "pBTC" })')).toBe(rows.length);
});

test.each([
  ['an order book', 'ticker id', 'mostOfTicker', '{ pairs { orderBook(depth: 2) { pairs { poolId } } } }'],
  ['a pool of V1', 'two tokens', 'mostOfTokens', '{ pairs { poolPair { pairs { poolId } } } }'],
])('the pairs of %s count as many values as those of the %s with the most pairs', async (_of, _name, most, query) => {
  const { pairs } = gateway.app.service.sources.market;
  const { values, points } = await costOf(query);
  const current = pairs.current();
  if (current === undefined) throw new Error('pairs are read');
  const market = { ...current.market, [most]: 1_000 };
  const spy = vi.spyOn(pairs, 'current').mockReturnValue({ ...current, market });
  const more = await costOf(query);
  spy.mockRestore();
  expect(more).toMatchObject({ points, values: values + market.rows.length * 990 });
});

test('a quote costs one point more for each hop and each 250 pools, and a hundred more at an earlier height', async () => {
  const quote = (args: string) =>
    `{ quote(sellTokenId: "${PRV}", buyTokenId: "${BTC}", sellAmount: 1, ${args}) { price } }`;
  const one = await costOf(quote('maxHops: 1'));
  const four = await costOf(quote('maxHops: 4'));
  expect(four.complexity - one.complexity).toBeCloseTo(3);
  expect(await costOf(quote('maxHops: null'))).toEqual(await costOf(quote('maxHops: 3')));
  const { data } = await post({ query: '{ beaconHeight }' });
  const earlier = await costOf(quote(`maxHops: 4, at: ${data.beaconHeight - 9}`));
  expect(earlier.complexity - four.complexity).toBeCloseTo(100, 0);
  // The steps of a route are at most as many as its hops.
  const route = (maxHops: number) => costOf(quote(`maxHops: ${maxHops}`).replace('price', 'route { poolPair { id } }'));
  expect((await route(4)).complexity - (await route(1)).complexity).toBeGreaterThan(3 + 3 * 2);
});

test('an earlier height costs a hundred once, whether an argument, an id or a cursor names it; the newest ones cost nothing', async () => {
  const { data } = await post({
    query: '{ beaconHeight poolPairs(first: 1) { pageInfo { endCursor } nodes { id } } }',
  });
  const at = data.beaconHeight - 9;
  const complexityOf = async (query: string) => (await costOf(query)).complexity;
  const node = (id: string) => complexityOf(`{ node(id: "${id}") { id } }`);
  const [{ id }] = data.poolPairs.nodes;
  const pool = await node(id);
  expect(pool).toBeLessThan(3);
  expect(await node(`${id}@${data.beaconHeight}`)).toBeLessThan(3);
  expect((await node(`${id}@${at}`)) - pool).toBeCloseTo(100, -0.5);
  const nodes = [at, at, at - 1].map((height) => `"${id}@${height}"`);
  const three = await complexityOf(`{ nodes(ids: [${nodes}]) { id } }`);
  expect([three > 200, three < 210]).toEqual([true, true]);

  const poolAt = (height: number) => `${POOL.slice(0, -1)}, at: ${height}) { id }`;
  const twice = (height: number) => complexityOf(`{ a: ${poolAt(height)} b: ${poolAt(height)} }`);
  expect(await twice(data.beaconHeight)).toBeLessThan(5);
  expect((await twice(at)) - (await twice(data.beaconHeight))).toBeCloseTo(100, 5);

  const page = (cursor: string) => complexityOf(`{ poolPairs(first: 1, after: "${cursor}") { nodes { id } } }`);
  const earlier = await post({ query: `{ poolPairs(first: 1, at: ${at}) { pageInfo { endCursor } } }` });
  const current = await page(data.poolPairs.pageInfo.endCursor);
  expect((await page(earlier.data.poolPairs.pageInfo.endCursor)) - current).toBeCloseTo(100, 5);
});

test.each([
  ['candles', (n: number) => `${POOL} { candles(interval: ONE_HOUR, last: ${n}) { open } }`],
  ['trades', (n: number) => `${POOL} { trades(first: ${n}) { nodes { id } } }`],
  ['orders', (n: number) => `${POOL} { orders(first: ${n}) { id } }`],
  ['gaps', (n: number) => `history { gaps(first: ${n}) { from } }`],
  ['blocks', (n: number) => `history { blocks(last: ${n}) { time } }`],
  // A value is a twentieth of an object.
  ['prices', (n: number) => `${POOL} { sparkline(points: ${n}) }`, 1 / 20],
])('a list costs at least as much as its argument says: %s', async (_, field, each = 1) => {
  const [one, many] = [await costOf(`{ ${field(2)} }`), await costOf(`{ ${field(402)} }`)];
  expect(many.complexity - one.complexity).toBeGreaterThanOrEqual(400 * each);
});

test('a small query costs little, a page at most the number of pools, and only sorting costs extra', async () => {
  expect((await costOf(`{ ${POOL} { price } }`)).points).toBeLessThanOrEqual(4);
  expect((await costOf('{ poolPairs(first: 1) { nodes { price } } }')).points).toBe(4);
  const all = await costOf('{ poolPairs(first: 40) { nodes { id } } }');
  expect(await costOf('{ poolPairs(first: 500) { nodes { id } } }')).toMatchObject({ complexity: all.complexity });
  const sorted = await costOf('{ poolPairs(first: 40, orderBy: NATIVE_LIQUIDITY_DESC) { nodes { id } } }');
  // Visiting 40 pools instead of returning a page of them.
  expect(sorted.points - all.points).toBe(39);
});

test('an operation of an array that has too many values by itself takes none from the others', async () => {
  const fields = Array.from({ length: 980 }, (_, n) => `x${n}: price`).join(' ');
  const pages = Array.from({ length: 10 }, (_, n) => `a${n}: poolPairs(first: 40) { nodes { ...F } }`).join(' ');
  const tooLarge = { query: `{ ${pages} } fragment F on PoolPair { ${fields} }` };
  // It is long too, so that it is not executed first.
  const long = `{ ${Array.from({ length: 600 }, (_, n) => `b${n}: beaconHeight`).join(' ')} }`;
  const [refused, answered] = await post([tooLarge, { query: long }], {});
  expect(refused.errors[0].message).toMatch(/^The (complexity|estimated number of values)/);
  expect(answered).toEqual({ data: expect.objectContaining({ b599: expect.any(Number) }) });
});
