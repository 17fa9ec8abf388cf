import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SandboxHostsOptions } from '../../../src/sandbox/sandbox.ts';
import { fixedSandbox } from '../../sandbox/support.ts';
import { nodeAt } from '../connect.ts';
import { failureOf } from '../failure.ts';

const V3 = { exchange: 'v3', history: 5 } as const;

/** A client of a sandbox, and the verbosities that it has requested since the last time. */
async function open(options: SandboxHostsOptions = V3) {
  const sandbox = await fixedSandbox(options);
  onTestFinished(sandbox.close);
  const { client, health } = nodeAt(sandbox.nodeUrl);
  const { node, chain } = sandbox;
  let seen = 0;
  function verbosities() {
    const requests = node.requests.slice(seen);
    seen += requests.length;
    return requests.map(({ body }) => /"Verbosity":(\d)/.exec(body)?.[1]);
  }
  return { sandbox, client, health, verbosities, height: chain.tip.height };
}

describe('an old node', () => {
  test('is requested to send orders once, and again after ten minutes: then by one call', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { sandbox, client, health, verbosities, height } = await open();
    const recover = sandbox.node.faults.set({ kind: 'old-node' });
    expect((await client.newestPoolsV3(height)).v3.orders).toBeUndefined();
    await client.earlierPoolsV3(height - 1);
    await client.newestPoolsV3(height);
    expect(verbosities()).toEqual(['4', '2', '2', '2']);
    expect(health.read()).toMatchObject({ healthy: true, lastErrorCode: undefined });

    vi.advanceTimersByTime(600_000);
    await Promise.all([1, 2, 3].map(() => client.earlierPoolsV3(height)));
    expect(verbosities().sort()).toEqual(['2', '2', '2', '4']);

    recover();
    await client.newestPoolsV3(height);
    vi.advanceTimersByTime(600_000);
    expect((await client.newestPoolsV3(height)).v3.orders?.flat().length).toBeGreaterThan(0);
    await client.newestPoolsV3(height);
    expect(verbosities()).toEqual(['2', '4', '4']);
  });
});

describe('that a node does not have V3 is no failure of the node if that was to be found out', () => {
  test.each<[string, SandboxHostsOptions]>([
    ['without the method', { history: 5 }],
    ['before its start', { ...V3, v3From: 3_000_000 }],
  ])('%s', async (_, options) => {
    const { client, health, height } = await open(options);
    await client.chainInfo();
    for (let calls = 0; calls < 4; calls++) await failureOf(client.probeV3(height));
    expect(health.read()).toMatchObject({ healthy: true, lastErrorCode: undefined });
    expect((await client.newestStateV1(height)).beaconHeight).toBe(height);
  });

  test.each<
    [
      number,
      'newestPoolsV3' | 'newestParamsV3' | 'earlierPoolsV3' | 'earlierParamsV3' | 'probeV3',
      lastErrorCode?: string,
    ]
  >([
    [502, 'probeV3', 'UPSTREAM_BAD_STATUS'],
    [403, 'probeV3'],
    [403, 'newestPoolsV3', 'UPSTREAM_BAD_STATUS'],
    [500, 'newestParamsV3', 'UPSTREAM_BAD_STATUS'],
    [403, 'earlierPoolsV3', 'UPSTREAM_BAD_STATUS'],
    [403, 'earlierParamsV3', 'UPSTREAM_BAD_STATUS'],
  ])('status %i of %s: the error is %s', async (status, call, lastErrorCode) => {
    const { sandbox, client, health, height } = await open();
    await client.chainInfo();
    sandbox.node.faults.set({ kind: 'status', status, body: '' });
    expect(await failureOf(client[call](height))).toMatchObject({ code: 'UPSTREAM_BAD_STATUS' });
    expect(health.read()).toMatchObject({ healthy: lastErrorCode === undefined, lastErrorCode });
  });

  test.each(['earlierPoolsV3', 'earlierParamsV3', 'poolOrders', 'newestParamsV3'] as const)(
    'a pruned height is a failure only of a head: %s',
    async (call) => {
      const { sandbox, client, health, height } = await open();
      await client.chainInfo();
      sandbox.node.faults.set({ kind: 'state-error', because: 'missing trie node x' });
      await failureOf(call === 'poolOrders' ? client.poolOrders(height, 'x') : client[call](height));
      expect(health.read()).toMatchObject({ healthy: call !== 'newestParamsV3' });
    },
  );

  test('before the start of V3, clients get an error and the node stays healthy; a head that cannot be read is a failure', async () => {
    const { client, health, height } = await open({ ...V3, v3From: 3_000_000 });
    await client.chainInfo();
    for (const call of [client.earlierPoolsV3, client.earlierParamsV3]) await failureOf(call(height));
    expect(health.read()).toMatchObject({ healthy: true, lastErrorCode: undefined });
    await failureOf(client.newestPoolsV3(height));
    expect(health.read()).toMatchObject({ healthy: false, lastErrorCode: 'UPSTREAM_RPC_ERROR' });
  });
});
