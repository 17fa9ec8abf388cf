import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpFault } from '../../src/sandbox/faults.ts';
import type { SandboxHosts, SandboxHostsOptions } from '../../src/sandbox/sandbox.ts';
import { startGateway, startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';

const QUERY = '{ beaconHeight poolPairs(first: 1) { totalCount } service { exchangeVersion head { stale } } }';

const V3 = { exchange: 'v3', history: 60 } as const;

/** The status of a node without the method. It also responds so when it fails. */
const NO_METHOD = { kind: 'status', status: 500, body: '', on: 'pdexv3_getState' } as const;

type Place = Extract<HttpFault, { kind: 'shape' }>['path'];

const open = ({
  sandbox,
  ...options
}: Omit<TestGatewayOptions, 'sandbox'> & { readonly sandbox?: SandboxHostsOptions } = {}) =>
  startGatewayForTest({ sandbox: { ...V3, ...sandbox }, ...options });

/** How often the nodes were called for V3, or for the states of V1. */
const callsOf = ({ nodes }: SandboxHosts, method: 'pdexv3_getState' | 'getpdestate') =>
  nodes.map((node) => node.requests.filter(({ body }) => body.includes(method)).length);

const headOf = ({ app }: TestGateway) => app.service.sources.head.newest();

async function stateOf({ ask }: TestGateway) {
  const { data } = await ask(QUERY);
  return [data.service.exchangeVersion, data.beaconHeight, data.service.head.stale];
}

/** The version after one more block. */
async function versionAfterBlock(gateway: TestGateway) {
  await gateway.advance();
  return (await stateOf(gateway))[0];
}

describe('a state of V3 with a wrong shape', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let unread: number;
  beforeAll(async () => {
    gateway = await startGateway({ sandbox: V3 });
    await gateway.untilReady();
    unread = gateway.sandbox.chain.tip.height;
  });
  afterAll(() => gateway.close());

  const pool: Place = ['Result', 'PoolPairs', '*'];
  const order: Place = [...pool, 'Orderbook', 'orders', 0];
  test.each<[Place, unknown, misfit: string]>([
    [[], 'nothing', 'expected an object at $'],
    [['Id'], 'another', 'expected the id of the request'],
    [['Result'], null, 'expected an object at $.Result'],
    [['Result'], ['a'], 'expected an object at $.Result'],
    [['Result', 'PoolPairs'], null, 'expected an object at $.Result.PoolPairs'],
    [[...pool, 'State'], undefined, 'expected an object at $.Result.PoolPairs[…].State'],
    [
      [...pool, 'State', 'Token0VirtualAmount'],
      null,
      'expected an integer at $.Result.PoolPairs[…].State.Token0VirtualAmount',
    ],
    [
      [...pool, 'State', 'Token1RealAmount'],
      '7',
      'expected an integer at $.Result.PoolPairs[…].State.Token1RealAmount',
    ],
    [
      [...pool, 'State', 'Token0ID'],
      'ab'.repeat(32),
      'expected keys with the token ids of the pool and a hash at $.Result.PoolPairs',
    ],
    [order, null, 'expected an object at $.Result.PoolPairs[…].Orderbook.orders[…]'],
    [[...order, 'Token0Rate'], 0, 'expected an amount above 0 at $.Result.PoolPairs[…].Orderbook.orders[…].Token0Rate'],
  ])('is an error that names the place: %j is %j', async (path, value, misfit) => {
    const { sandbox, ask } = gateway;
    unread -= 1;
    sandbox.node.faults.set({ kind: 'shape', on: 'pdexv3_getState', path, value });
    const { data, errors } = await ask(`{ poolPairs(first: 0, at: ${unread}) { totalCount } }`);
    sandbox.node.faults.clear();
    expect(data).toEqual({ poolPairs: null });
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining(`The node sent an invalid response: ${misfit}`),
      extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream: 'NODE' },
    });
  });

  test('is never a head: there is none at first, and later the last good one stays', async () => {
    const path = ['Result', 'PoolPairs', '*', 'State', 'Token1RealAmount'];
    const fault = { kind: 'shape', on: 'pdexv3_getState', path, value: '7' } as const;
    const gateway = await open({ before: ({ node }) => void node.faults.set(fault) });
    const { sandbox, ask, untilHeight } = gateway;
    const { height } = sandbox.chain.tip;
    const { data, errors } = await ask('{ beaconHeight }');
    expect(data).toEqual({ beaconHeight: null });
    const misfit = 'expected an integer at $.Result.PoolPairs[…].State.Token1RealAmount';
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining(`The node sent an invalid response: ${misfit}`),
      extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream: 'NODE' },
    });

    sandbox.node.faults.clear();
    await expect.poll(() => stateOf(gateway)).toEqual(['V3', height, false]);
    sandbox.node.faults.set(fault);
    sandbox.advance();
    await expect.poll(() => stateOf(gateway)).toEqual(['V3', height, true]);
    sandbox.node.faults.clear();
    await untilHeight(height + 1);
  });
});

describe('the version that trades', () => {
  test.each([-1002, -32_601])('is V1 with a node that responds with error %i once, until it has V3', async (Code) => {
    const fault = { kind: 'shape', on: 'pdexv3_getState', path: ['Error'], value: { Code } } as const;
    const gateway = await open({ before: ({ node }) => void node.faults.set(fault) });
    const { sandbox, untilReady, advance } = gateway;
    await untilReady();
    expect(await stateOf(gateway)).toEqual(['V1', sandbox.chain.tip.height, false]);
    expect(callsOf(sandbox, 'pdexv3_getState')).toEqual([1]);
    sandbox.node.faults.clear();
    await advance();
    await expect.poll(() => versionAfterBlock(gateway)).toBe('V3');
  });

  test('is not known with a node that closes the connection, as older nodes do: a line of the log names the setting', async () => {
    const reset = { kind: 'reset', on: 'pdexv3_getState' } as const;
    const { ask, lines } = await open({ before: ({ node }) => void node.faults.set(reset) });
    await expect
      .poll(() => lines)
      .toContainEqual(expect.objectContaining({ hint: expect.stringContaining('EXCHANGE_VERSION=v1') }));
    expect((await ask('{ beaconHeight }')).errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });

    const configured = await open({
      before: ({ node }) => void node.faults.set(reset),
      config: { exchangeVersion: 'v1' },
    });
    await configured.untilReady();
    expect(await stateOf(configured)).toEqual(['V1', configured.sandbox.chain.tip.height, false]);
  });

  test('is looked for at the first ten heads of V1, without a failure of the node', async () => {
    const gateway = await open({ sandbox: { exchange: 'v1' }, config: { exchangeVersion: 'auto' } });
    const { sandbox, untilReady, advance, app, lines } = gateway;
    await untilReady();
    for (let heads = 2; heads <= 12; heads++) {
      await advance();
      const looks = 3 + Math.min(heads, 10) - 1;
      await expect.poll(() => callsOf(sandbox, 'pdexv3_getState')).toEqual([looks]);
    }
    const [node] = app.service.sources.nodes.status();
    expect(node).toMatchObject({ failure: undefined, health: { healthy: true, lastErrorCode: undefined } });
    expect(lines.map(({ msg }) => msg)).toEqual(['the pools of version 1 of the exchange trade']);
  });

  test('turns to V3 while the gateway runs; earlier heights are those of the version that traded then', async () => {
    const startHeight = 2_150_000;
    const start = startHeight + 3;
    const gateway = await open({ sandbox: { startHeight, v3From: start } });
    const { sandbox, untilReady, advance, ask } = gateway;
    await untilReady();
    await advance(2);
    expect(await stateOf(gateway)).toEqual(['V1', start - 1, false]);
    await advance();
    await expect.poll(() => versionAfterBlock(gateway)).toBe('V3');
    expect(sandbox.chain.tip.height).toBeLessThan(start + 10);
    await advance(6);

    const keysAt = async (...heights: number[]) => {
      const fields = heights.map((at, n) => `n${n}: poolPairs(first: 1, at: ${at}) { nodes { key } }`);
      const { data, errors } = await ask(`{ ${fields.join(' ')} }`);
      expect(errors).toBeUndefined();
      return heights.map((_, n) => data[`n${n}`].nodes[0].key.startsWith('pdepool') as boolean);
    };
    const heights = [start - 9, start - 2, start - 1, start, start + 1, start + 3];
    expect(await keysAt(...heights)).toEqual([true, true, true, false, false, false]);
    const before = callsOf(sandbox, 'pdexv3_getState');
    expect(await keysAt(...[3, 4, 5, 6, 7].map((below) => start - below))).toEqual(Array(5).fill(true));
    expect(callsOf(sandbox, 'pdexv3_getState')).toEqual(before);
  });

  test('is V3 if one of several nodes has it; one without the method is no failure of its host', async () => {
    const gateway = await open({
      sandbox: { nodes: 2 },
      before: ({ nodes }) => void nodes[0].faults.set(NO_METHOD),
    });
    const { sandbox, untilReady, advance, app } = gateway;
    await untilReady();
    for (let heads = 0; heads < 5; heads++) await advance();
    expect(await stateOf(gateway)).toEqual(['V3', sandbox.chain.tip.height, false]);
    expect(app.service.sources.nodes.status().map(({ health, failure }) => [health.healthy, failure])).toEqual([
      [true, undefined],
      [true, undefined],
    ]);
    expect(app.service.sources.head.problems()).toEqual([]);
    const metrics = await fetch(new URL('/metrics', await app.listen(0, '127.0.0.1')));
    const circuits = (await metrics.text()).match(/^pdex_upstream_circuit_open\{.*$/gm) ?? [];
    expect(circuits.map((line) => line.endsWith(' 0'))).toEqual([true, true, true]);
  });

  test('stays V3 when the node stumbles: the head is stale until the node has recovered', async () => {
    const gateway = await open();
    const { sandbox, untilReady, untilHeight } = gateway;
    await untilReady();
    const { height } = sandbox.chain.tip;
    sandbox.node.faults.set(NO_METHOD);
    for (let blocks = 0; blocks < 4; blocks++) {
      sandbox.advance();
      await expect.poll(() => stateOf(gateway)).toEqual(['V3', height, true]);
    }
    expect(callsOf(sandbox, 'getpdestate')).toEqual([0]);
    sandbox.node.faults.clear();
    await untilHeight(height + 4);
    expect(await stateOf(gateway)).toEqual(['V3', height + 4, false]);
  });

  test.each<[string, SandboxHostsOptions, code: string, why: string]>([
    ['without the method', { exchange: 'v1' }, 'UPSTREAM_BAD_STATUS', 'HTTP status 500'],
    ['before its start', { v3From: 3_000_000 }, 'UPSTREAM_RPC_ERROR', 'error -14001'],
  ])('fixed to V3 with a node %s: the gateway does not become ready, and says why', async (_, sandbox, code, why) => {
    const { ask, app, sandbox: started } = await open({ sandbox, config: { exchangeVersion: 'v3' } });
    const { errors } = await ask('{ beaconHeight }');
    expect(errors?.[0]?.extensions).toEqual({ code, upstream: 'NODE' });
    const ready = await fetch(new URL('/ready', await app.listen(0, '127.0.0.1')));
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain(why);
    expect(callsOf(started, 'getpdestate')).toEqual([0]);
  });
});

test('an earlier state of V3 that has lost pools is logged, and read again when it is requested again', async () => {
  const { ask, untilReady, sandbox, lines } = await open();
  await untilReady();
  const pools = sandbox.chain.v3Pools.length;
  const at = sandbox.chain.tip.height - 10;
  const countAt = async (height: number, alias: string) =>
    (await ask(`{ ${alias}: poolPairs(first: 0, at: ${height}) { totalCount } }`)).data[alias].totalCount;
  expect(await countAt(at - 10, 'a')).toBe(pools);
  const clearFault = sandbox.node.faults.set({ kind: 'missing-pools', pools: 2 });
  expect(await countAt(at, 'b')).toBe(pools - 2);
  clearFault();
  expect(await countAt(at, 'c')).toBe(pools);
  expect(lines).toContainEqual(expect.objectContaining({ height: at, pools: pools - 2, before: pools }));
});

describe('the parameters', () => {
  /** The next block is one that changes them. */
  const startHeight = 6_000 * 360 - 1;
  const ratesOf = (gateway: TestGateway) => headOf(gateway)?.exchange.v3?.params.feeRatesBps;

  test('are those of the height of each head, and of each earlier height', async () => {
    const gateway = await open({ sandbox: { startHeight } });
    const { untilReady, advance, app } = gateway;
    await untilReady();
    const before = ratesOf(gateway);
    await advance();
    expect([...(ratesOf(gateway)?.values() ?? [])]).not.toEqual([...(before?.values() ?? [])]);

    const head = headOf(gateway);
    if (head === undefined) throw new Error('no head');
    const past = await app.service.sources.pastStates.read(startHeight, head, { client: 'someone' });
    expect(past.v3?.params.feeRatesBps).toEqual(before);
  });

  test('are never those of before a change: the head stays if they cannot be read', async () => {
    const gateway = await open({ sandbox: { startHeight } });
    const { sandbox, untilReady, advance, app } = gateway;
    await untilReady();
    const before = ratesOf(gateway);
    sandbox.node.faults.set({ kind: 'shape', on: 'pdexv3_getState', path: ['Result', 'Params'], value: null });
    sandbox.advance();
    await expect.poll(() => app.service.sources.head.isFailing()).toBe(true);
    expect(headOf(gateway)?.beaconHeight).toBe(startHeight);
    sandbox.node.faults.clear();
    await advance();
    expect(ratesOf(gateway)).not.toEqual(before);
  });
});

describe('an old node sends no orders with the pools', () => {
  const someone = { client: 'someone' };
  const old = { kind: 'old-node' } as const;

  test('those of a pool are read when somebody needs them, once for all', async () => {
    const gateway = await open({ before: ({ node }) => void node.faults.set(old) });
    const { sandbox, untilReady, app, advance } = gateway;
    await untilReady();
    const { head, poolOrders, pools } = app.service.sources;
    const read = async () => {
      const newest = head.newest();
      if (newest === undefined) throw new Error('no head');
      const { directory, v3 } = newest.exchange;
      expect(v3?.orders).toBeUndefined();
      const all = directory.ids.map((_, place) => pools.of(newest.exchange).at(place));
      return Promise.all([...all, ...all].map((pool) => poolOrders.read(pool, newest, someone)));
    };
    const first = await read();
    const count = first.length / 2;
    expect(callsOf(sandbox, 'pdexv3_getState')).toEqual([4 + count]);
    await read();
    expect(callsOf(sandbox, 'pdexv3_getState')).toEqual([4 + count]);

    const current = await open({ sandbox: {} });
    await current.untilReady();
    const orders = headOf(current)?.exchange.v3?.orders;
    expect(orders?.flat().length).toBeGreaterThan(0);
    expect(first.slice(0, count)).toEqual(orders);
    await advance();
    await read();
    expect(callsOf(sandbox, 'pdexv3_getState')).toEqual([6 + 2 * count]);
  });

  test('clients get the same orders as from a current node, at the head and at an earlier height', async () => {
    const gateway = await open({ before: ({ node }) => void node.faults.set(old) });
    const { sandbox, untilReady, ask } = gateway;
    await untilReady();
    const current = await open({ of: sandbox });
    sandbox.node.faults.clear();
    await current.untilReady();
    const { height } = sandbox.chain.tip;
    for (const at of ['', `, at: ${height - 5}`]) {
      sandbox.node.faults.set(old);
      const query = `{ poolPairs(first: 5${at}) { nodes { key orders(first: 20) { id sellAmount boughtAmount } } } }`;
      const { data, errors } = await ask(query);
      expect(errors).toBeUndefined();
      sandbox.node.faults.clear();
      expect({ data }).toEqual(await current.ask(query));
      expect(data.poolPairs.nodes.flatMap(({ orders }: { orders: unknown[] }) => orders).length).toBeGreaterThan(10);
    }
  });

  test('beside a current one: heads are read, and clients get orders', async () => {
    const gateway = await open({ sandbox: { nodes: 2 }, before: ({ nodes }) => void nodes[0].faults.set(old) });
    const { untilReady, advance, ask } = gateway;
    await untilReady();
    for (let heads = 0; heads < 3; heads++) {
      await advance();
      const { data, errors } = await ask('{ poolPairs(first: 5) { nodes { orders(first: 20) { id } } } }');
      expect(errors).toBeUndefined();
      expect(data.poolPairs.nodes.flatMap(({ orders }: { orders: unknown[] }) => orders).length).toBeGreaterThan(10);
    }
  });

  test('a failure is an error of those who wait, and the next read succeeds', async () => {
    const { untilReady, app, sandbox } = await open({ before: ({ node }) => void node.faults.set(old) });
    await untilReady();
    const { head, poolOrders, pools } = app.service.sources;
    const newest = head.newest();
    if (newest === undefined) throw new Error('no head');
    const pool = pools.of(newest.exchange).at(0);
    const clear = sandbox.node.faults.set({ kind: 'status', status: 503, on: 'pdexv3_getState' });
    await expect(poolOrders.read(pool, newest, someone)).rejects.toMatchObject({ code: 'UPSTREAM_BAD_STATUS' });
    clear();
    expect(await poolOrders.read(pool, newest, someone)).toBeInstanceOf(Array);
  });
});
