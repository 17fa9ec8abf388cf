import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxHosts } from '../../../src/sandbox/sandbox.ts';
import { fixedSandbox } from '../support.ts';

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/node/v3/${name}.json`, import.meta.url), 'utf8');

let sandbox: SandboxHosts;
beforeAll(async () => {
  sandbox = await fixedSandbox({ exchange: 'v3', history: 400 });
});
afterAll(() => sandbox.close());

async function call(method: string, params: unknown, node = sandbox.node): Promise<string> {
  const body = JSON.stringify({ id: 1, jsonrpc: '1.0', method, params });
  const response = await fetch(node.url, { method: 'POST', body });
  expect(response.status).toBe(200);
  return response.text();
}
const getState = (filter: unknown, height: unknown = sandbox.chain.tip.height, node = sandbox.node) =>
  call('pdexv3_getState', [{ BeaconHeight: height, Filter: filter }], node);
const poolPairs = (verbosity: number) => ({ Key: 'PoolPairs', Verbosity: verbosity, ID: '' });

/** The kinds of lines of a response: names, depth and forms of values, without ids and amounts. */
function linesOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .replace(/"[0-9a-f]{64}(-[0-9a-f]{64})*"/g, '"<id>"')
      .replace(/"1[1-9A-HJ-NP-Za-km-z]{100,}"/g, '"<address>"')
      .replace(/\b\d+\b(?=,?\n)/g, '<number>')
      .split('\n')
      .map((line) => line.replace(/,$/, '')),
  );
}

/** Lines about rewards for providers, which the sandbox leaves out: two maps of a pool with locked shares, and an empty map of fees. */
const OF_LIQUIDITY_MINING = new Set([
  ...['"LmLockedShare": {', '"LmRewardsPerShare": {', '"<id>": {', '"2149880": <number>', '}'],
  '"LpFeesPerShare": {}',
]);

describe('pdexv3_getState', () => {
  test.each([2, 4])('responds with all pools at verbosity %i, in the form of the node', async (verbosity) => {
    const text = await getState(poolPairs(verbosity));
    const expected = linesOf(fixture(`pool-pairs.verbosity-${verbosity}`));
    expect([...linesOf(text)].filter((line) => !expected.has(line))).toEqual([]);
    // The sandbox has no liquidity mining, except for the locked shares of some pools.
    const missing = [...expected].filter((line) => !linesOf(text).has(line)).map((line) => line.trim());
    expect(missing.filter((line) => !OF_LIQUIDITY_MINING.has(line))).toEqual([]);
    expect(text).toContain('LmLockedShareAmount');

    const { Result } = JSON.parse(text);
    const ids = Object.keys(Result.PoolPairs);
    expect(ids).toEqual([...sandbox.chain.v3Pools.map(({ id }) => id)].sort());
    expect(Result.BeaconTimeStamp).toBe(sandbox.chain.tip.time);
  });

  test('has amounts beyond 64 bits, an emptied pool, one with one side, and several pools of two tokens', async () => {
    const text = await getState(poolPairs(4));
    expect(text).toMatch(/"Token1VirtualAmount": 180000000000000000000,\n/);
    const pools = Object.values<{ State: Record<string, unknown> }>(JSON.parse(text).Result.PoolPairs);
    const states = pools.map(({ State }) => State);
    expect(states).toContainEqual(
      expect.objectContaining({ Token0RealAmount: 0, ShareAmount: 0, Token1VirtualAmount: 0 }),
    );
    expect(
      states.filter(({ Token1RealAmount, Token1VirtualAmount }) => Token1RealAmount === 0 && Token1VirtualAmount !== 0),
    ).toHaveLength(1);
    const tokens = states.map(({ Token0ID, Token1ID }) => `${Token0ID}-${Token1ID}`);
    expect(new Set(tokens).size).toBeLessThan(tokens.length);
    expect(states.some(({ Amplifier }) => Amplifier === 10_000)).toBe(true);
    expect(states.some(({ Amplifier }) => Amplifier === 22_000)).toBe(true);
  });

  test('responds with a bare list of ids at verbosity 1, in another order at each block', async () => {
    const listed = JSON.parse(await getState(poolPairs(1))).Result;
    expect(listed.toSorted()).toEqual(sandbox.chain.v3Pools.map(({ id }) => id).toSorted());
    const before = JSON.parse(await getState(poolPairs(1), sandbox.chain.tip.height - 1)).Result;
    expect(before).not.toEqual(listed);
  });

  test('never has orders at verbosity 3', async () => {
    const pools = Object.values<Record<string, unknown>>(JSON.parse(await getState(poolPairs(3))).Result.PoolPairs);
    expect(pools.every(({ Orderbook }) => JSON.stringify(Orderbook) === '{}')).toBe(true);
    expect(pools.some(({ Shares }) => Shares !== undefined)).toBe(true);
  });

  test('responds with the orders of one pool, and with an empty entry for a pool that it does not know', async () => {
    const [pool] = sandbox.chain.v3Pools;
    const text = await getState({ Key: 'PoolPairOrders', Verbosity: 1, ID: pool?.id });
    expect(linesOf(text)).toEqual(linesOf(fixture('pool-pair-orders')));

    const unknown = fixture('pool-pair-orders.unknown-pool');
    const { Params, Result } = JSON.parse(unknown);
    const empty = await getState(Params[0].Filter);
    expect(JSON.parse(empty).Result.PoolPairs).toEqual(Result.PoolPairs);
    expect(linesOf(empty)).toEqual(linesOf(unknown));
  });

  test('responds with the parameters, which change', async () => {
    const params = { Key: 'Params', Verbosity: 1 };
    const { Result } = JSON.parse(await getState(params));
    expect(Object.keys(Result.Params)).toEqual(Object.keys(JSON.parse(fixture('params.at-launch')).Result.Params));
    const changed = sandbox.chain.tip.height - (sandbox.chain.tip.height % 360);
    const ratesAt = async (height: number) => JSON.parse(await getState(params, height)).Result.Params.FeeRateBPS;
    expect(await ratesAt(changed - 1)).not.toEqual(await ratesAt(changed));
    expect(await ratesAt(changed)).toEqual(Result.Params.FeeRateBPS);
  });

  test('takes height 0 for the tip, and cuts fractions off', async () => {
    const atTip = JSON.parse(await getState(poolPairs(4))).Result;
    expect(JSON.parse(await getState(poolPairs(4), 0)).Result).toEqual(atTip);
    expect(JSON.parse(await getState(poolPairs(4), sandbox.chain.tip.height + 0.9)).Result).toEqual(atTip);
  });

  test.each([
    ['filter-key', { Key: 'Pools', Verbosity: 1, ID: '' }, undefined],
    ['filter-type', { Key: 'PoolPairs', Verbosity: '4', ID: '' }, undefined],
    ['missing-filter', undefined, undefined],
    ['verbosity', poolPairs(0), undefined],
    ['unknown-pool', { Key: 'PoolPair', Verbosity: 1, ID: 'x' }, undefined],
    ['future-height', poolPairs(4), 99_999_999],
    ['pruned-height', poolPairs(4), 1_700_000],
  ])('responds with the error of the node: %s', async (name, filter, height) => {
    const { Error: error } = JSON.parse(await getState(filter, height));
    const expected = JSON.parse(fixture(`error.${name}`)).Error;
    const withoutNode = (text: string) => text.replace(/trie node [0-9a-f]{64}/, 'trie node <hash>');
    expect({ ...error, StackTrace: withoutNode(error.StackTrace) }).toEqual({
      ...expected,
      StackTrace: withoutNode(expected.StackTrace),
    });
  });

  test('is not available below the start, which the chain can pass', async () => {
    await using later = await fixedSandbox({ exchange: 'v3', history: 10, v3From: 2_150_002 });
    const expected = JSON.parse(fixture('error.before-break-point')).Error;
    const answer = async () => JSON.parse(await getState(poolPairs(4), later.chain.tip.height, later.node));
    expect((await answer()).Error).toEqual(expected);
    later.advance(2);
    expect(Object.keys((await answer()).Result.PoolPairs)).toHaveLength(later.chain.v3Pools.length);
    const before = JSON.parse(await getState(poolPairs(4), later.chain.tip.height - 1, later.node));
    expect(before.Error).toEqual(expected);
  });

  test('an old node does not know verbosity 4', async () => {
    const release = sandbox.node.faults.set({ kind: 'old-node' });
    expect(JSON.parse(await getState(poolPairs(4))).Error.StackTrace).toContain("Can't recognize verbosity");
    expect(JSON.parse(await getState(poolPairs(2))).Error).toBeNull();
    release();
  });

  test('a damaged database leaves pools out without an error', async () => {
    sandbox.node.faults.set({ kind: 'missing-pools', pools: 2, times: 1 });
    const { Result, Error: error } = JSON.parse(await getState(poolPairs(4)));
    expect(error).toBeNull();
    expect(Object.keys(Result.PoolPairs)).toHaveLength(sandbox.chain.v3Pools.length - 2);
  });

  test('is unknown to a node of a chain without V3', async () => {
    await using old = await fixedSandbox({ history: 5 });
    const body = JSON.stringify({ id: 1, jsonrpc: '1.0', method: 'pdexv3_getState', params: [] });
    const response = await fetch(old.nodeUrl, { method: 'POST', body });
    expect([response.status, await response.text()]).toEqual([500, '']);
  });
});

describe('retrievebeaconblockbyheight', () => {
  test('responds with a block and its instructions, in the form of the node', async () => {
    const { tip } = sandbox.chain;
    const { Result } = JSON.parse(await call('retrievebeaconblockbyheight', [tip.height - 1]));
    const [block] = Result;
    const [expected] = JSON.parse(fixture('beacon-block')).Result;
    expect(Object.keys(block)).toEqual(Object.keys(expected));
    expect(block).toMatchObject({ Height: tip.height - 1, NextBlockHash: tip.hash });
    expect(block.Instructions.every((parts: unknown[]) => parts.every((part) => typeof part === 'string'))).toBe(true);
  });

  test('responds with an error for a block that does not exist', async () => {
    const { Error: error } = JSON.parse(await call('retrievebeaconblockbyheight', [99_999_999]));
    expect(error.Code).toBe(-2003);
  });

  test('responds with the same error for a block that the node has pruned', async () => {
    const { height } = sandbox.chain.tip;
    const release = sandbox.node.faults.set({ kind: 'pruned-blocks', blocks: 2 });
    const codes = [0, 1, 2, 3].map(async (back) => {
      const { Error: error } = JSON.parse(await call('retrievebeaconblockbyheight', [height - back]));
      return error?.Code;
    });
    expect(await Promise.all(codes)).toEqual([undefined, undefined, -2003, -2003]);
    release();
  });
});

test('the pools of V1 are a leftover: nobody trades with them, and they only shrink', async () => {
  const { chain } = sandbox;
  const [pool] = chain.pools;
  if (pool === undefined) throw new Error('no pool');
  const values = Array.from({ length: 300 }, (_, i) => chain.reserves(pool, chain.tip.height - i)?.reserve1 ?? 0n);
  expect(values.every((value, i) => i === 0 || value >= (values[i - 1] ?? 0n))).toBe(true);
});

test('the market-data host names the pools of V3', async () => {
  const pairs = await (await fetch(`${sandbox.marketDataUrl}/api/v1/public/market-data/pairs`)).json();
  const named = new Set(pairs.pairs?.map(({ pool_id }: { pool_id: string }) => pool_id) ?? []);
  const markets = sandbox.chain.v3Pools.filter(({ market }) => market !== undefined).map(({ id }) => id);
  expect(named).toEqual(new Set(markets));
});
