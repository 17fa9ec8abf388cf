import { describe, expect, onTestFinished, test } from 'vitest';
import { findPlace, poolCount, poolPairAt } from '../../../src/domain/exchange.ts';
import type { NodeFault } from '../../../src/sandbox/faults.ts';
import { createSandboxHosts, type SandboxHosts, type SandboxHostsOptions } from '../../../src/sandbox/sandbox.ts';
import { nodeAt } from '../connect.ts';
import { failureOf } from '../failure.ts';

async function sandboxForTest(options: SandboxHostsOptions = {}): Promise<SandboxHosts> {
  const sandbox = await createSandboxHosts({ seed: 7, startTime: 1_795_176_000, history: 5, ...options });
  onTestFinished(sandbox.close);
  return sandbox;
}

const TIP = 1_640_000;

describe('requests to the node', () => {
  test('are the three documented calls, each in exactly the documented form', async () => {
    const { node, chain } = await sandboxForTest();
    const url = new URL('/rpc?key=value', node.url);
    const { client } = nodeAt(url);
    const chainInfo = await client.chainInfo();
    const { height, ...hashes } = await client.beaconTip();
    expect(hashes).toEqual({ hash: chain.tip.hash, previousHash: chain.block(TIP - 1)?.hash });
    const state = await client.newestStateV1(height);
    expect([chainInfo.beacon.height, height, state.beaconHeight, poolCount(state)]).toEqual([
      TIP,
      TIP,
      TIP,
      chain.pools.length,
    ]);

    const bodies = [
      '{"id":1,"jsonrpc":"1.0","method":"getblockchaininfo","params":[]}',
      '{"id":2,"jsonrpc":"1.0","method":"getbeaconbeststatedetail","params":[""]}',
      `{"id":3,"jsonrpc":"1.0","method":"getpdestate","params":[{"BeaconHeight":${TIP}}]}`,
    ];
    expect(node.requests.map(({ method, path, headers, body }) => ({ method, path, headers, body }))).toEqual(
      bodies.map((body) => ({
        method: 'POST',
        path: '/rpc?key=value',
        headers: {
          host: url.host,
          connection: 'close',
          accept: 'application/json',
          'accept-encoding': 'gzip',
          'user-agent': 'pdex-gateway',
          'content-type': 'application/json',
          'content-length': String(body.length),
        },
        body,
      })),
    );
  });

  test('return every pool of a past height to the last unit', async () => {
    const sandbox = await sandboxForTest();
    const { client } = nodeAt(sandbox.nodeUrl);
    const state = await client.newestStateV1(TIP - 3);
    for (const pool of sandbox.chain.poolsAt(TIP - 3)) {
      const [token1Id, token2Id] = [pool.token1.id, pool.token2.id];
      expect(poolPairAt(state, findPlace(state, token1Id, token2Id) ?? -1)).toEqual({
        beaconHeight: TIP - 3,
        time: state.time,
        token1Id,
        token2Id,
        ...sandbox.chain.reserves(pool, TIP - 3),
      });
    }
    expect(poolCount(state)).toBe(sandbox.chain.poolsAt(TIP - 3).length);
  });
});

describe('a call fails', () => {
  const shape = (misfit: string) => ({
    code: 'UPSTREAM_BAD_SHAPE',
    retryable: true,
    message: `The node sent an invalid response: ${misfit}.`,
    extensions: { upstream: 'NODE' },
  });

  test.each<[NodeFault, string]>([
    [{ kind: 'garbage' }, 'it is not JSON'],
    [{ kind: 'empty' }, 'it is not JSON'],
    [{ kind: 'truncated' }, 'it is not JSON'],
    [{ kind: 'reset-in-body' }, 'it is not JSON'],
    [{ kind: 'wrong-id' }, 'expected the id of the request at $.Id'],
    [{ kind: 'shape', path: ['Result'], value: null }, 'expected an object at $.Result'],
    [
      { kind: 'shape', path: ['Result', 'PDEPoolPairs', '*', 'Token1PoolValue'], value: 'many' },
      'expected an integer at $.Result.PDEPoolPairs[…].Token1PoolValue',
    ],
  ])('with the fault $kind', async (fault, misfit) => {
    const { node } = await sandboxForTest();
    node.faults.set(fault);
    const { client, health } = nodeAt(node.url);
    expect(await failureOf(client.newestStateV1(TIP))).toEqual(shape(misfit));
    expect(node.calls()).toBe(1);
    expect(health.read()).toEqual({
      upstream: 'NODE',
      healthy: false,
      lastSuccessAt: undefined,
      lastErrorAt: 100,
      lastErrorCode: 'UPSTREAM_BAD_SHAPE',
    });
  });

  test.each(['5', null, undefined, -5, 1.5])('if the beacon state has the height %j', async (value) => {
    const { node } = await sandboxForTest();
    node.faults.set({ kind: 'shape', path: ['Result', 'BeaconHeight'], value });
    const { client } = nodeAt(node.url);
    expect(await failureOf(client.beaconTip())).toEqual(shape('expected an integer at $.Result.BeaconHeight'));
  });

  test('unless the beacon state only lacks the hashes', async () => {
    const { node } = await sandboxForTest();
    node.faults.set({ kind: 'shape', path: ['Result', 'BestBlockHash'], value: 5 });
    const { client } = nodeAt(node.url);
    const parent = await client.beaconTip();
    expect(parent).toMatchObject({ height: TIP, hash: undefined, previousHash: expect.any(String) });
    node.faults.clear();
    node.faults.set({ kind: 'shape', path: ['Result', 'PreviousBestBlockHash'], value: undefined });
    expect(await client.beaconTip()).toMatchObject({ hash: expect.any(String), previousHash: undefined });
  });

  test('with the code of an error of the node, and without its stack trace', async () => {
    const { node } = await sandboxForTest();
    const { client } = nodeAt(node.url);
    expect(await failureOf(client.newestStateV1(TIP + 1))).toEqual({
      code: 'UPSTREAM_RPC_ERROR',
      retryable: true,
      message: 'The node responded with error -8000.',
      extensions: { upstream: 'NODE' },
    });
  });
});

describe('a failure in the health of the node', () => {
  test('is not that it has pruned a state, but that it does not have the state of its tip', async () => {
    const { node } = await sandboxForTest();
    const { client, health } = nodeAt(node.url);
    expect(await failureOf(client.earlierStateV1(1))).toMatchObject({ code: 'UPSTREAM_RPC_ERROR' });
    expect(health.read()).toMatchObject({ lastErrorCode: undefined });

    node.faults.set({ kind: 'state-missing' });
    expect(await failureOf(client.newestStateV1(TIP))).toMatchObject({ code: 'UPSTREAM_RPC_ERROR' });
    expect(health.read()).toMatchObject({ healthy: false, lastErrorCode: 'UPSTREAM_RPC_ERROR' });
  });

  test('is that it failed to read an earlier state that it has', async () => {
    const { node } = await sandboxForTest();
    const { client, health } = nodeAt(node.url);
    await client.earlierStateV1(TIP - 1);
    node.faults.set({ kind: 'state-error', because: 'open /data/000123.ldb: too many open files' });
    expect(await failureOf(client.earlierStateV1(TIP - 1))).toMatchObject({ code: 'UPSTREAM_RPC_ERROR' });
    expect(health.read()).toMatchObject({ healthy: false, lastErrorCode: 'UPSTREAM_RPC_ERROR' });
  });
});
