import { describe, expect, test } from 'vitest';
import { keepEvents } from '../support/events.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { sample } from '../support/metrics.ts';

const HEADS = 'subscription { head { beaconHeight } }';
const PAST = 'query ($at: BeaconHeight!) { poolPairs(first: 0, at: $at) { totalCount } }';

describe.each([false, true])(
  'a node behind a proxy that allows two requests a second, Retry-After: %s',
  (retryAfter) => {
    test('is read: a head, each new height, and earlier states', async () => {
      const gateway = await startGatewayForTest({
        config: { headPollMs: 1_000, upstreamMaxPauseMs: 15_000 },
        sandbox: { history: 60 },
        before: ({ node }) => void node.faults.set({ kind: 'rate-limit', perSecond: 2, burst: 1, retryAfter }),
      });
      const { sandbox, app, ask, subscribe } = gateway;
      const { height } = sandbox.chain.tip;
      const served = () => app.service.sources.head.current()?.beaconHeight;
      await expect.poll(served).toBe(height);
      const heads = keepEvents(subscribe(HEADS));
      await expect.poll(() => heads.answers.length).toBe(1);
      for (let blocks = 1; blocks <= 2; blocks++) {
        sandbox.advance();
        await expect.poll(served).toBe(height + blocks);
      }
      await expect.poll(() => heads.answers.length).toBe(3);
      expect(heads.answers.map(({ errors }) => errors)).toEqual([undefined, undefined, undefined]);

      const past = async () => (await ask(PAST, { at: height - 20 })).data.poolPairs?.totalCount;
      await expect.poll(past, { interval: 1_000 }).toBe(54);

      const { origin } = new URL(await app.listen(0, '127.0.0.1'));
      const { host } = new URL(sandbox.nodeUrl);
      const spacing = async () => {
        const metrics = await (await fetch(`${origin}/metrics`)).text();
        return sample(metrics, `pdex_node_call_spacing_seconds{host="${host}"}`);
      };
      // While the calls are spaced, those that are not needed are left out. On a slow machine, they may need no spacing for a while.
      const readHead = async () => {
        sandbox.node.resetCalls();
        sandbox.advance();
        await expect.poll(served).toBe(sandbox.chain.tip.height);
        return { isSpaced: (await spacing()) !== 0, calls: sandbox.node.calls('getbeaconbeststatedetail') };
      };
      await expect.poll(readHead).toEqual({ isSpaced: true, calls: 0 });
    });
  },
);
