import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { App } from '../../src/compose/app.ts';
import { NEVER_MS, startGatewayForTest } from '../support/gateway.ts';
import { readSample } from '../support/metrics.ts';
import { openThreeNodes, POOLS } from './three-nodes.ts';

/** The nodes keep this many blocks below their tip. */
const KEPT = 100;
const PRUNED = { kind: 'pruned', blocks: KEPT } as const;
const AT = 'query ($at: BeaconHeight!) { poolPairs(first: 0, at: $at) { totalCount } }';

async function open() {
  // A read that waits in the queue for half of the timeout is refused.
  const gateway = await startGatewayForTest({ sandbox: { history: 400 }, config: { upstreamTimeoutMs: NEVER_MS } });
  const { sandbox, untilHeight } = gateway;
  for (const node of sandbox.nodes) node.faults.set(PRUNED);
  await untilHeight(sandbox.chain.tip.height);
  for (const node of sandbox.nodes) node.resetCalls();
  return { ...gateway, tip: sandbox.chain.tip.height };
}

/** One operation over several heights. */
function chart(heights: readonly number[]): string {
  return `{ ${heights.map((at) => `h${at}: poolPairs(first: 0, at: ${at}) { totalCount }`).join(' ')} }`;
}

const range = (from: number, length: number, step = 1) => Array.from({ length }, (_, n) => from + n * step);
const codesOf = (errors: readonly { extensions: { code: string } }[] = []) => [
  ...new Set(errors.map(({ extensions }) => extensions.code)),
];

/** How many calls for a state the node has responded with an error. */
async function errorsOf(app: App): Promise<number | undefined> {
  const labels = 'upstream="NODE",method="getpdestate",outcome="UPSTREAM_RPC_ERROR"';
  return readSample(await app.listen(0, '127.0.0.1'), `pdex_upstream_calls_total{${labels}}`);
}

describe('heights that the node has pruned', () => {
  test('64 in one operation cost a few calls', async () => {
    const { ask, sandbox, tip } = await open();
    const heights = range(tip - 300, 64);
    const { data, errors } = await ask(chart(heights));
    expect(Object.values(data)).toEqual(heights.map(() => null));
    expect([errors?.length, codesOf(errors)]).toEqual([64, ['HEIGHT_NOT_AVAILABLE']]);
    expect(sandbox.node.calls('getpdestate')).toBeLessThanOrEqual(4);
  });

  test('64 in one operation cost a few calls on a busy machine too, where every field takes long', async () => {
    const { ask, sandbox, tip } = await open();
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
    onTestFinished(() => clock.mockRestore());
    const { errors } = await ask(chart(range(tip - 300, 64)));
    expect([errors?.length, codesOf(errors)]).toEqual([64, ['HEIGHT_NOT_AVAILABLE']]);
    expect(sandbox.node.calls('getpdestate')).toBeLessThanOrEqual(4);
  });

  test('cost no call under later heads, nor do those below them', async () => {
    const { ask, advance, sandbox, tip } = await open();
    await ask(AT, { at: tip - 200 });
    expect(sandbox.node.calls('getpdestate')).toBe(1);
    for (let head = 0; head < 5; head++) {
      await advance();
      sandbox.node.resetCalls();
      for (const at of [tip - 200, tip - 201 - head, 7]) {
        const { errors } = await ask(AT, { at });
        expect(codesOf(errors)).toEqual(['HEIGHT_NOT_AVAILABLE']);
      }
      expect(sandbox.node.calls('getpdestate')).toBe(0);
    }
  });

  test('beside heights that it has: these are whole, and cost one call each', async () => {
    const { ask, sandbox, tip } = await open();
    const heights = range(tip - KEPT - 160, 64, 4);
    const { data, errors } = await ask(chart(heights));
    const oldest = tip - KEPT;
    expect(data).toEqual(Object.fromEntries(heights.map((at) => [`h${at}`, at < oldest ? null : POOLS])));
    expect(codesOf(errors)).toEqual(['HEIGHT_NOT_AVAILABLE']);
    const kept = heights.filter((at) => at >= oldest).length;
    expect(sandbox.node.calls('getpdestate') - kept).toBeLessThanOrEqual(8);
  });

  test('are shown to the operator', async () => {
    const { ask, app, sandbox, tip } = await open();
    await ask(AT, { at: tip - 200 });
    const { host } = new URL(sandbox.nodeUrl);
    const pruned = await readSample(await app.listen(0, '127.0.0.1'), `pdex_node_pruned_beacon_height{host="${host}"}`);
    expect(pruned).toBe(tip - 200);
  });

  test('are read from a node that has them, and the others are not called for them again', async () => {
    const { ask, untilHeight, sandbox } = await openThreeNodes();
    const { height } = sandbox.chain.tip;
    await untilHeight(height);
    const [first, second, archive] = sandbox.nodes;
    for (const node of [first, second]) node?.faults.set({ kind: 'pruned', blocks: 5 });
    for (const node of sandbox.nodes) node.resetCalls();
    const heights = range(height - 50, 20);
    expect((await ask(chart(heights))).data).toEqual(Object.fromEntries(heights.map((at) => [`h${at}`, POOLS])));
    expect(archive?.calls('getpdestate')).toBe(20);
    for (const node of [first, second]) expect(node?.calls('getpdestate')).toBeLessThanOrEqual(4);
  });
});

describe('a node that limits errors', () => {
  /** More than the gateway causes at once, with the calls that are under way. */
  const LIMIT = { kind: 'error-limit', errors: 30 } as const;

  test('does not cut the gateway off, whatever heights clients request: the chain goes on, and so do heights it has', async () => {
    const { ask, advance, app, sandbox, tip } = await open();
    await ask(AT, { at: tip - 10 });
    sandbox.node.faults.set(LIMIT);
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(range(round * 20 + 1, 20).map((at) => ask(AT, { at })));
      for (const { errors } of answers)
        expect(['HEIGHT_NOT_AVAILABLE', 'UPSTREAM_BUSY']).toContain(errors?.[0]?.extensions.code);
      await advance();
    }
    for (let round = 0; round < 5; round++) await ask(chart(range(tip - 390 + round, 40, 7)));
    expect(await errorsOf(app)).toBeLessThanOrEqual(25);
    expect(await ask(AT, { at: tip - 9 })).toEqual({ data: { poolPairs: POOLS } });
    await advance();
    expect((await ask('{ beaconHeight service { head { stale } } }')).data).toEqual({
      beaconHeight: sandbox.chain.tip.height,
      service: { head: { stale: false } },
    });
  });

  test('nor where it fails to read states, or is behind: what may not be called for is a retryable error', async () => {
    const { ask, sandbox, tip } = await open();
    const failing = [
      { kind: 'state-error', because: 'open /data/7.ldb: too many open files' },
      { kind: 'lag', blocks: 300, on: 'getpdestate' },
    ] as const;
    for (const fault of failing) {
      sandbox.node.faults.clear();
      sandbox.node.faults.set(fault);
      for (let n = 0; n < 20; n++) {
        const { errors } = await ask(AT, { at: tip - 10 - n });
        expect(['UPSTREAM_RPC_ERROR', 'UPSTREAM_BUSY']).toContain(errors?.[0]?.extensions.code);
      }
    }
    expect(sandbox.node.calls('getpdestate')).toBeLessThanOrEqual(25);
    // Every half minute, one more error is allowed.
    await expect
      .poll(async () => (await ask(AT, { at: tip - 40 })).errors)
      .toEqual([
        expect.objectContaining({
          message: 'The node responded with too many errors in the last minutes, so the gateway limits its calls.',
          extensions: { code: 'UPSTREAM_BUSY', upstream: 'NODE' },
        }),
      ]);
  });
});
