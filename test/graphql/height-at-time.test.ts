import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemoryStore } from '../history/memory-store.ts';
import { recordForTest } from '../history/recorded.ts';
import { startGateway, startGatewayForTest } from '../support/gateway.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
  await gateway.ask('{ beaconHeight }');
});
afterAll(() => gateway.close());

const iso = (ms: number) => new Date(ms).toISOString();
const at = (ms: number) => `{ beaconHeightAt(time: "${iso(ms)}") }`;

describe('beaconHeightAt', () => {
  test('is the newest height at or before the time, from a few states of the node', async () => {
    const { chain, node } = gateway.sandbox;
    const height = chain.tip.height - 150;
    const time = (chain.block(height)?.time ?? 0) * 1_000;
    node.resetCalls();
    const { data } = await gateway.ask(
      `{ before: beaconHeightAt(time: "${iso(time - 1)}") exactly: beaconHeightAt(time: "${iso(time)}") after: beaconHeightAt(time: "${iso(time + 39_999)}") }`,
    );
    expect(data).toEqual({ before: height - 1, exactly: height, after: height });
    const calls = node.calls('getpdestate');
    expect(calls).toBeGreaterThan(1);
    expect(calls).toBeLessThan(25);
    // All clients share the times that were read.
    expect((await gateway.ask(at(time))).data).toEqual({ beaconHeightAt: height });
    expect(node.calls('getpdestate')).toBe(calls);
  });

  test('is the newest height after the newest block, and null before the first one', async () => {
    const { chain } = gateway.sandbox;
    expect((await gateway.ask(at(chain.tip.time * 1_000 + 1e9))).data).toEqual({ beaconHeightAt: chain.tip.height });
    expect(await gateway.ask(at(0))).toEqual({ data: { beaconHeightAt: null } });
  });

  test('accepts any offset, and refuses what is no time', async () => {
    const { chain } = gateway.sandbox;
    const [{ data }, { data: none, errors }] = await Promise.all([
      gateway.ask(`{ beaconHeightAt(time: "2026-01-01T02:00:00+02:00") beaconHeight }`),
      gateway.ask('{ beaconHeightAt(time: "yesterday") beaconHeight }'),
    ]);
    expect(data).toEqual({ beaconHeightAt: chain.tip.height, beaconHeight: chain.tip.height });
    expect(none).toEqual({ beaconHeightAt: null, beaconHeight: chain.tip.height });
    expect(errors).toEqual([
      expect.objectContaining({
        path: ['beaconHeightAt'],
        extensions: expect.objectContaining({ code: 'BAD_USER_INPUT' }),
      }),
    ]);
  });

  test('of many times at once is refused by its complexity', async () => {
    const fields = Array.from({ length: 41 }, (_, n) => `t${n}: beaconHeightAt(time: "${iso(n)}")`);
    const { errors } = await gateway.ask(`{ ${fields.join(' ')} }`);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['QUERY_TOO_COMPLEX']);
  });

  test('needs no call where the heights are recorded, and a new block does not change it', async () => {
    const store = createMemoryStore();
    const { sandbox, ask, advanceEach } = await recordForTest({ store, config: { historyBackfillHours: 1 } });
    await store.until(() => store.order.length === 89);
    const height = sandbox.chain.tip.height - 40;
    sandbox.node.resetCalls();
    const query = at((sandbox.chain.block(height)?.time ?? 0) * 1_000 + 5_000);
    expect((await ask(query)).data).toEqual({ beaconHeightAt: height });
    await advanceEach(1);
    expect((await ask(query)).data).toEqual({ beaconHeightAt: height });
    expect(sandbox.node.requests.filter(({ body }) => body.includes(`"BeaconHeight":${height}`))).toEqual([]);
  });

  test.each([
    ['0', () => 0],
    ['later than the newest block', (newest: number) => newest + 1],
  ])('is exact if the node shows a time that is %s: the state is read again', async (_, wrongTime) => {
    const { sandbox, ask, untilHeight } = await startGatewayForTest();
    await untilHeight(1);
    const { chain, node } = sandbox;
    const height = chain.tip.height - 150;
    const [path, value] = [['Result', 'BeaconTimeStamp'], wrongTime(chain.tip.time)];
    node.faults.set({ kind: 'shape', on: 'getpdestate', path, value, times: 3 });
    expect((await ask(at((chain.block(height)?.time ?? 0) * 1_000))).data).toEqual({ beaconHeightAt: height });
  });

  test('is the error of the node while that cannot be read', async () => {
    const { sandbox, ask, untilHeight } = await startGatewayForTest();
    await untilHeight(1);
    sandbox.node.faults.set({ kind: 'state-error', because: '-8000: too many open files' });
    const { errors } = await ask(at((sandbox.chain.tip.time - 3_000) * 1_000));
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_RPC_ERROR']);
  });
});
