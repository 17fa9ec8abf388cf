import { describe, expect, test } from 'vitest';
import type { PushFault } from '../../src/sandbox/faults.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { keepEvents } from '../support/events.ts';
import { NEVER_MS, startGatewayForTest, type TestGatewayOptions } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';
import { readSample, sample } from '../support/metrics.ts';

const HEADS = 'subscription { head { beaconHeight hash } }';

const urlsOf = ({ pushUrls }: SandboxHosts) => ({ fullnodeWsUrl: pushUrls.map((url) => new URL(url)) });

/** A gateway that has subscribed to the websocket of its node, and has read the first head. Only frames lead to others. */
async function pushedGateway(options: TestGatewayOptions = {}) {
  const gateway = await startGatewayForTest({
    ...options,
    configOf: urlsOf,
    config: { headPollMs: NEVER_MS, ...options.config },
  });
  const { sandbox, app, ask } = gateway;
  await ask('{ beaconHeight }');
  await expect.poll(sandbox.push.subscribers).toBe(1);
  const { origin } = new URL(await app.listen(0, '127.0.0.1'));
  return {
    ...gateway,
    served: () => app.service.sources.head.current()?.beaconHeight,
    ready: async () => (await fetch(`${origin}/ready`)).json(),
    metrics: async () => (await fetch(`${origin}/metrics`)).text(),
  };
}

describe('a node that pushes new blocks', () => {
  test('is read when a frame comes, with the calls of one head', async () => {
    const { sandbox, served, subscribe, metrics } = await pushedGateway();
    const { height } = sandbox.chain.tip;
    const heads = keepEvents(subscribe(HEADS));
    await expect.poll(() => heads.answers.length).toBe(1);
    sandbox.node.resetCalls();
    sandbox.advance();
    await expect.poll(served).toBe(height + 1);
    expect(
      ['getblockchaininfo', 'getbeaconbeststatedetail', 'getpdestate'].map((name) => sandbox.node.calls(name as never)),
    ).toEqual([1, 1, 1]);
    await expect.poll(() => heads.answers.length).toBe(2);

    const { host } = new URL(sandbox.nodeUrl);
    const text = await metrics();
    expect(
      ['connected', 'frames_total', 'reconnects_total'].map((name) =>
        sample(text, `pdex_push_${name}{host="${host}"}`),
      ),
    ).toEqual([1, 1, 0]);
  });

  test('is read again when it replaces its tip', async () => {
    const { sandbox, app } = await pushedGateway();
    sandbox.advance();
    sandbox.replaceTip();
    await expect.poll(() => app.service.sources.head.current()?.hash).toBe(sandbox.chain.tip.hash);
  });

  test.each<PushFault>([
    { kind: 'duplicates' },
    { kind: 'out-of-order' },
    { kind: 'side-branches' },
    { kind: 'burst', blocks: 20 },
  ])('never makes heights go back, nor costs a call for each frame: $kind', async (fault) => {
    const { sandbox, served, subscribe } = await pushedGateway({ config: { headPollMs: 50 } });
    const heads = keepEvents(subscribe(HEADS));
    sandbox.push.faults.set(fault);
    const { height } = sandbox.chain.tip;
    for (let blocks = 1; blocks <= 5; blocks++) {
      sandbox.advance();
      // The frame of the second block comes after the others.
      if (fault.kind !== 'out-of-order') await expect.poll(served).toBe(height + blocks);
    }
    await expect
      .poll(() => heads.answers.at(-1)?.data?.['head'])
      .toEqual({
        beaconHeight: height + 5,
        hash: sandbox.chain.tip.hash,
      });
    const heights = heads.answers.map(({ data }) => Object(data?.['head']).beaconHeight);
    expect(heights).toEqual(heights.toSorted((a, b) => a - b));
  });

  test('costs a bounded number of calls in a burst', async () => {
    const { sandbox, served } = await pushedGateway();
    sandbox.node.resetCalls();
    sandbox.push.faults.set({ kind: 'burst', blocks: 100 });
    for (let blocks = 0; blocks < 20; blocks++) sandbox.advance();
    await expect.poll(served).toBe(sandbox.chain.tip.height);
    await expect.poll(() => sandbox.push.calls('block')).toBe(20);
    expect(sandbox.node.calls('getblockchaininfo')).toBeLessThanOrEqual(7);
  });

  test('is not called more often than it allows, however many frames come', async () => {
    const { sandbox, served } = await pushedGateway({
      config: { headPollMs: 1_000 },
      before: ({ node }) => void node.faults.set({ kind: 'rate-limit', perSecond: 5, burst: 1 }),
    });
    sandbox.push.faults.set({ kind: 'burst', blocks: 50 });
    sandbox.node.resetCalls();
    const startedAt = performance.now();
    for (let blocks = 0; blocks < 10; blocks++) sandbox.advance();
    await expect.poll(served).toBe(sandbox.chain.tip.height);
    const seconds = (performance.now() - startedAt) / 1_000;
    // Some calls are rejected until the space between calls is long enough.
    expect(sandbox.node.calls()).toBeLessThanOrEqual(5 * seconds + 5);
  });

  test('is polled again a moment later if its API does not have the block yet', async () => {
    const { sandbox, served } = await pushedGateway();
    sandbox.node.faults.set({ kind: 'lag', blocks: 1, on: 'getblockchaininfo', times: 2 });
    sandbox.advance();
    await expect.poll(served).toBe(sandbox.chain.tip.height);
    expect(sandbox.push.calls('block')).toBe(1);
  });

  test('is one of several: a frame of any of them is enough', async () => {
    const { sandbox, served } = await pushedGateway({ sandbox: { nodes: 2 } });
    await expect.poll(() => sandbox.pushes[1]?.subscribers()).toBe(1);
    for (const silent of [0, 1]) {
      const clear = sandbox.pushes[silent]?.faults.set({ kind: 'lost' });
      sandbox.advance();
      await expect.poll(served).toBe(sandbox.chain.tip.height);
      clear?.();
    }
  });

  test('gets the end of the subscription when the gateway closes', async () => {
    const { sandbox, app } = await pushedGateway();
    await app.close();
    await expect.poll(sandbox.push.openSockets).toBe(0);
    expect([sandbox.push.calls('unsubscribe'), sandbox.push.leaked()]).toEqual([1, 0]);
  });
});

describe('a node that does not push', () => {
  test('is polled, and has no socket without the setting', async () => {
    const { sandbox, advance } = await startGatewayForTest();
    await advance(3);
    expect(sandbox.push.upgrades).toEqual([]);
  });

  test('is polled as without push, and is ready with a note, until it pushes', async () => {
    const gateway = await startGatewayForTest({
      configOf: urlsOf,
      before: ({ push }) => void push.faults.set({ kind: 'refused', status: 503 }),
    });
    const { sandbox, advance, app, lines, untilReady } = gateway;
    await untilReady();
    await advance(2);
    const { origin } = new URL(await app.listen(0, '127.0.0.1'));
    const ready = async () => (await fetch(`${origin}/ready`)).json();
    const { host } = new URL(sandbox.nodeUrl);
    const metric = (name: string) => readSample(origin, `pdex_push_${name}{host="${host}"}`);
    await expect.poll(ready).toEqual({
      status: 'ready',
      exchangeVersion: 'V1',
      notes: [
        {
          code: 'PUSH_FAILING',
          message: '1 of 1 websockets of nodes do not push new blocks: the gateway polls instead',
        },
      ],
      sandbox: true,
    });
    expect(await metric('connected')).toBe(0);
    sandbox.push.faults.clear();
    await expect.poll(sandbox.push.subscribers).toBe(1);
    await advance();
    await expect.poll(ready).toEqual({ status: 'ready', exchangeVersion: 'V1', sandbox: true });
    expect([await metric('connected'), await metric('frames_total')]).toEqual([1, 1]);
    expect(await metric('reconnects_total')).toBeGreaterThan(0);
    expect(
      lines.filter(({ msg }) => /push/.test(msg)).map(({ level, msg, node, error }) => [level, msg, node, error]),
    ).toEqual([
      [
        WARN,
        'a node does not push new blocks: the gateway polls it instead',
        host,
        'The node responded with HTTP status 503.',
      ],
      [INFO, 'a node pushes new blocks', host, undefined],
    ]);
  });

  test('is polled at once when its socket closes', async () => {
    const { sandbox, served } = await pushedGateway();
    sandbox.push.faults.set({ kind: 'lost', times: 1 });
    sandbox.advance();
    sandbox.push.disconnect();
    await expect.poll(served).toBe(sandbox.chain.tip.height);
  });

  test('does not show its key in the log', async () => {
    const { lines, sandbox } = await startGatewayForTest({
      config: { logLevel: 'trace' },
      before: ({ push }) => void push.faults.set({ kind: 'refused', status: 401, body: 's3cr3t-key' }),
      configOf: ({ pushUrl }) => ({
        fullnodeWsUrl: [new URL(`${pushUrl.replace('//', '//name:passw0rd@')}/s3cr3t-key?k=an0ther-key`)],
      }),
    });
    await expect.poll(() => lines.some(({ msg }) => msg.startsWith('a node does not push'))).toBe(true);
    expect(sandbox.push.upgrades[0]?.path).toBe('/s3cr3t-key?k=an0ther-key');
    expect(JSON.stringify(lines)).not.toMatch(/s3cr3t|an0ther|passw0rd/);
  });
});
