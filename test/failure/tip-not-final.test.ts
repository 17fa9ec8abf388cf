import { describe, expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';

describe('a chain that is not yet final', () => {
  test('a height that goes back is not served', async () => {
    const { ask, advance, sandbox } = await startGatewayForTest();
    await advance(2);
    sandbox.node.faults.set({ kind: 'lag', blocks: 2 });
    const calls = sandbox.node.calls('getblockchaininfo');
    await expect.poll(() => sandbox.node.calls('getblockchaininfo')).toBeGreaterThan(calls + 3);
    const { data } = await ask('{ beaconHeight service { head { stale } } }');
    expect(data).toEqual({ beaconHeight: sandbox.world.tip.height, service: { head: { stale: false } } });
  });

  test('a state that is missing at the tip for a moment is asked for again', async () => {
    const { ask, advance, sandbox } = await startGatewayForTest();
    await ask('{ beaconHeight }');
    sandbox.node.faults.set({ kind: 'state-missing', times: 2 });
    const calls = sandbox.node.calls('getpdestate');
    await advance();
    expect(sandbox.node.calls('getpdestate')).toBe(calls + 3);
    expect((await ask('{ service { head { stale } } }')).data.service.head.stale).toBe(false);
  });
});
