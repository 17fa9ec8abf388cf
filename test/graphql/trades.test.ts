import { describe, expect, test } from 'vitest';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { volumesOf } from '../../src/sandbox/v3/trades.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../support/gateway.ts';
import { readSample } from '../support/metrics.ts';
import { SOMEONE } from '../upstream/connect.ts';

const BLOCK_CALL = 'retrievebeaconblockbyheight';
const V3 = { exchange: 'v3', history: 30, pools: 20 } as const;
const INSTRUCTIONS = ['Result', 0, 'Instructions'];
const FIELDS = `beaconHeight previousHeight time trades {
  id transactionId beaconHeight time poolPair { poolId beaconHeight } sellToken { tokenId } buyToken { tokenId }
  sellAmount buyAmount buyAmountFromOrders step steps
}`;

function startV3(options: TestGatewayOptions = {}) {
  return startGatewayForTest({ ...options, sandbox: { ...V3, ...options.sandbox } });
}

/** What the trades of a block must be, from what the sandbox did. */
function tradesOf({ chain }: SandboxHosts, height = chain.tip.height) {
  const block = chain.block(height);
  return (block?.v3?.events ?? []).flatMap((event) => {
    if (event.kind !== 'trade') return [];
    const volumes = volumesOf(event.trade);
    return volumes.map(({ poolId, sold, paid, got }, step) => {
      const tokens = poolId
        .split('-')
        .slice(0, 2)
        .map((tokenId) => ({ tokenId }));
      const { id } = event.trade.request;
      const ofOrders = 'because' in event.trade ? [] : [...(event.trade.orderChanges[step]?.values() ?? [])];
      return {
        id: `Trade:${height}:${id}:${step}`,
        transactionId: id,
        beaconHeight: height,
        time: new Date((block?.time ?? 0) * 1_000).toISOString(),
        poolPair: { poolId, beaconHeight: height },
        sellToken: tokens[sold],
        buyToken: tokens[1 - sold],
        sellAmount: String(paid),
        buyAmount: String(got),
        buyAmountFromOrders: String(-ofOrders.reduce((sum, change) => sum + change[sold === 0 ? 1 : 0], 0n)),
        step,
        steps: volumes.length,
      };
    });
  });
}

describe('the trades of blocks', () => {
  test('are sent at once, then for each block, as they are on the chain', async () => {
    const { subscribe, sandbox } = await startV3();
    const updates = subscribe(`subscription { trades { ${FIELDS} } }`);
    const seen = { trades: 0, routes: 0, ofOrders: 0 };
    for (let update = 0; update < 12; update++) {
      const { value } = await updates.next();
      const { height, time } = sandbox.chain.tip;
      const trades = tradesOf(sandbox);
      const previousHeight = update === 0 ? null : height - 1;
      expect(value).toEqual({
        data: {
          trades: { beaconHeight: height, previousHeight, time: new Date(time * 1_000).toISOString(), trades },
        },
      });
      seen.trades += trades.length;
      seen.routes += trades.filter(({ steps }) => steps > 1).length;
      seen.ofOrders += trades.filter(({ buyAmountFromOrders }) => buyAmountFromOrders !== '0').length;
      sandbox.advance();
    }
    await updates.return(undefined);
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
    expect(sandbox.node.calls(BLOCK_CALL)).toBeLessThanOrEqual(13);
  });

  test('are read once for all clients, and never while V1 trades', async () => {
    const { subscribe, sandbox, advance, untilReady } = await startV3();
    await untilReady();
    const all = Array.from({ length: 5 }, (_, n) => subscribe(`subscription { trades { trades { id } a${n}: time } }`));
    await Promise.all(all.map((updates) => updates.next()));
    await advance();
    await Promise.all(all.map((updates) => updates.next()));
    expect(sandbox.node.calls(BLOCK_CALL)).toBe(2);
    await Promise.all(all.map((updates) => updates.return(undefined)));

    const v1 = await startGatewayForTest();
    const updates = v1.subscribe('subscription { trades { trades { id } } }');
    expect(await updates.next()).toEqual({ done: false, value: { data: { trades: { trades: [] } } } });
    await updates.return(undefined);
    expect(v1.sandbox.node.calls(BLOCK_CALL)).toBe(0);
  });

  test('are not read if a node has pushed them', async () => {
    const { subscribe, sandbox, untilReady } = await startV3({
      configOf: ({ pushUrl }) => ({ fullnodeWsUrl: [new URL(pushUrl)] }),
    });
    await untilReady();
    const updates = subscribe('subscription { trades { beaconHeight trades { id } } }');
    await updates.next();
    await expect.poll(() => sandbox.push.subscribers()).toBe(1);
    const before = sandbox.node.calls(BLOCK_CALL);
    for (let block = 0; block < 3; block++) {
      sandbox.advance();
      const trades = tradesOf(sandbox).map(({ id }) => ({ id }));
      const { value } = await updates.next();
      expect(value).toEqual({ data: { trades: { beaconHeight: sandbox.chain.tip.height, trades } } });
    }
    await updates.return(undefined);
    expect(sandbox.node.calls(BLOCK_CALL)).toBe(before);
  });

  test('can be those of some pools', async () => {
    const { subscribe, sandbox } = await startV3();
    const poolId = tradesOf(sandbox)[0]?.poolPair.poolId ?? '';
    const updates = subscribe('subscription ($poolIds: [String!]) { trades(poolIds: $poolIds) { trades { id } } }', {
      poolIds: [poolId.toUpperCase(), `${'0'.repeat(64)}-${'1'.repeat(64)}-${'2'.repeat(64)}`],
    });
    const { value } = await updates.next();
    await updates.return(undefined);
    const ofPool = tradesOf(sandbox).filter((trade) => trade.poolPair.poolId === poolId);
    expect(ofPool.length).toBeGreaterThan(0);
    expect(value?.data.trades.trades).toEqual(ofPool.map(({ id }) => ({ id })));
  });

  test('are an error with bad arguments', async () => {
    const { subscribe } = await startV3();
    for (const args of ['poolIds: []', 'poolIds: ["x"]', 'afterHeight: -1']) {
      const { value } = await subscribe(`subscription { trades(${args}) { beaconHeight } }`).next();
      expect([args, value?.errors?.map(({ extensions }) => extensions.code)]).toEqual([args, ['BAD_USER_INPUT']]);
    }
  });

  test('resume after a height: each later block once, in order', async () => {
    const { subscribe, sandbox, advance } = await startV3();
    await advance(1);
    const after = sandbox.chain.tip.height;
    for (let block = 0; block < 4; block++) await advance(1);
    const updates = subscribe(`subscription { trades(afterHeight: ${after}) { ${FIELDS} } }`);
    for (let height = after + 1; height <= after + 4; height++) {
      const { value } = await updates.next();
      expect(value?.data.trades).toMatchObject({
        beaconHeight: height,
        previousHeight: height - 1,
        trades: tradesOf(sandbox, height),
      });
    }
    await updates.return(undefined);
  });

  test('of a block that was replaced are those of the block in its place', async () => {
    const { subscribe, sandbox } = await startV3();
    const updates = subscribe('subscription { trades { beaconHeight previousHeight trades { id } } }');
    const first = await updates.next();
    const replaced = tradesOf(sandbox);
    expect(first.value?.data.trades.trades).toEqual(replaced.map(({ id }) => ({ id })));

    sandbox.replaceTip();
    const beaconHeight = sandbox.chain.tip.height;
    const trades = tradesOf(sandbox).map(({ id }) => ({ id }));
    expect(trades).not.toEqual(replaced.map(({ id }) => ({ id })));
    const { value } = await updates.next();
    expect(value?.data.trades).toEqual({ beaconHeight, previousHeight: beaconHeight, trades });
    await updates.return(undefined);
  });
});

test('a trade of one of the newest blocks can be found by its id', async () => {
  const { ask, sandbox, advance } = await startV3();
  await advance();
  const [trade, ...others] = tradesOf(sandbox);
  const find = (id: string) => ask('query ($id: ID!) { node(id: $id) { id ... on Trade { sellAmount } } }', { id });
  expect(await find(trade?.id ?? '')).toEqual({ data: { node: { id: trade?.id, sellAmount: trade?.sellAmount } } });
  expect(others.length).toBeGreaterThan(0);

  const { height } = sandbox.chain.tip;
  const hash = 'a'.repeat(64);
  expect(await find(`Trade:${height}:${hash}:0`)).toEqual({ data: { node: null } });
  expect(await find(`Trade:${height + 5}:${hash}:0`)).toEqual({ data: { node: null } });
  const codes = [];
  for (const id of [`Trade:${height - 9}:${hash}:0`, `Trade:${height}:x:0`, `Trade:0:${hash}:0`, 'Trade:1']) {
    const { errors } = await find(id);
    codes.push(errors?.[0]?.extensions.code);
  }
  expect(codes).toEqual(['HISTORY_UNAVAILABLE', 'BAD_USER_INPUT', 'BAD_USER_INPUT', 'BAD_USER_INPUT']);

  sandbox.replaceTip();
  await expect.poll(async () => await find(trade?.id ?? '')).toEqual({ data: { node: null } });
});

describe('a node that does not send blocks', () => {
  test.each([
    ['refuses the call', { kind: 'status', status: 500, body: '' }, 'UPSTREAM_BAD_STATUS'],
    ['sends garbage', { kind: 'garbage' }, 'UPSTREAM_BAD_SHAPE'],
    ['sends another block', { kind: 'shape', path: ['Result', 0, 'Hash'], value: 'x' }, 'UPSTREAM_BAD_SHAPE'],
    [
      'has no instructions that can be read',
      { kind: 'shape', path: INSTRUCTIONS, value: [['285', '1', '0', 'x', '{']] },
      'UPSTREAM_BAD_SHAPE',
    ],
    [
      'sends something else in place of the instructions',
      { kind: 'shape', path: INSTRUCTIONS, value: 'none' },
      'UPSTREAM_BAD_SHAPE',
    ],
    ['has pruned the block', { kind: 'pruned-blocks', blocks: 0 }, 'UPSTREAM_RPC_ERROR'],
    ['does not respond', { kind: 'hang' }, 'UPSTREAM_TIMEOUT'],
  ] as const)('and %s leaves out the trades alone', async (_, fault, code) => {
    let clear = () => {};
    const { subscribe, sandbox, ask, lines, advance, untilReady } = await startV3({
      config: code === 'UPSTREAM_TIMEOUT' ? { upstreamTimeoutMs: 2_000 } : {},
      before({ node }) {
        clear = node.faults.set({ ...fault, on: BLOCK_CALL });
      },
    });
    // On a busy machine, the first head can take longer than the timeout.
    await untilReady();
    const updates = subscribe('subscription { trades { beaconHeight trades { id } } }');
    for (let block = 0; block < 2; block++) {
      const { value } = await updates.next();
      expect(value?.data).toBeNull();
      expect(value?.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
        [['trades', 'trades'], code],
      ]);
      expect(await ask('{ service { head { beaconHeight stale } upstreams { upstream healthy } } }')).toEqual({
        data: {
          service: {
            head: { beaconHeight: sandbox.chain.tip.height, stale: false },
            upstreams: expect.arrayContaining([{ upstream: 'NODE', healthy: true }]),
          },
        },
      });
      if (block === 0) await advance();
    }
    clear();
    await advance();
    const { value } = await updates.next();
    await updates.return(undefined);
    expect(value).toEqual({
      data: { trades: { beaconHeight: sandbox.chain.tip.height, trades: tradesOf(sandbox).map(({ id }) => ({ id })) } },
    });
    const isDecoded = !JSON.stringify(fault).includes('285');
    expect(lines.filter(({ msg }) => msg.includes('trades of blocks cannot be read'))).toHaveLength(isDecoded ? 1 : 0);
    expect(lines.filter(({ msg }) => msg.includes('cannot be decoded'))).toHaveLength(isDecoded ? 0 : 2);
  });

  test('yet, because it is behind its load balancer, is asked again: no trades are lost', async () => {
    const { subscribe, sandbox, advance, untilReady } = await startV3();
    await untilReady();
    const updates = subscribe('subscription { trades { beaconHeight trades { id } } }');
    await updates.next();
    sandbox.node.faults.set({ kind: 'lag', blocks: 1, on: BLOCK_CALL, times: 1 });
    await advance();
    const { value } = await updates.next();
    await updates.return(undefined);
    const trades = tradesOf(sandbox).map(({ id }) => ({ id }));
    expect(value).toEqual({ data: { trades: { beaconHeight: sandbox.chain.tip.height, trades } } });
  });

  test('is passed over for another one', async () => {
    const { subscribe, sandbox } = await startV3({ sandbox: { nodes: 2 } });
    for (const node of sandbox.nodes.slice(0, 1)) node.faults.set({ kind: 'reset', on: BLOCK_CALL });
    const updates = subscribe('subscription { trades { trades { id } } }');
    const { value } = await updates.next();
    await updates.return(undefined);
    expect(value?.data.trades.trades).toEqual(tradesOf(sandbox).map(({ id }) => ({ id })));
  });
});

test('a state that does not follow from the trades of its block is counted and logged', async () => {
  const { sandbox, app, lines, advance, untilReady } = await startV3();
  await untilReady();
  const { head, trades } = app.service.sources;
  await trades.of(await head.get(), SOMEONE);
  sandbox.node.faults.set({ kind: 'shape', path: INSTRUCTIONS, value: [], on: BLOCK_CALL, times: 1 });
  await advance();
  const pools = new Set(tradesOf(sandbox).map(({ poolPair }) => poolPair.poolId)).size;
  expect(pools).toBeGreaterThan(0);
  await expect.poll(() => trades.mismatches()).toBe(pools);
  expect(lines.filter(({ msg }) => msg.includes('do not follow from the trades'))).toMatchObject([{ pools }]);
  await advance();
  await advance();
  const url = await app.listen(0, '127.0.0.1');
  expect(await readSample(url, 'pdex_trade_mismatches_total')).toBe(pools);
});
