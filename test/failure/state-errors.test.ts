import { describe, expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';
import { openThreeNodes, POOLS } from './three-nodes.ts';

const AT = 'query ($at: BeaconHeight!) { poolPairs(first: 0, at: $at) { totalCount } }';
const HEALTH = '{ service { head { stale } upstreams { healthy lastErrorCode } } }';
const TOO_MANY_FILES = { kind: 'state-error', because: 'open /data/000123.ldb: too many open files' } as const;
const RPC_ERROR = {
  message: 'The node responded with error -8000.',
  path: ['poolPairs'],
  extensions: { code: 'UPSTREAM_RPC_ERROR', upstream: 'NODE' },
};

describe('a node that answers -8000 because it failed to read a state', () => {
  test.each([
    ['v1', -8000],
    ['v3', -14_001],
  ] as const)('is an error of the node that can pass, not a height that is gone: %s', async (exchange, code) => {
    const { ask, untilHeight, sandbox, lines } = await startGatewayForTest({ sandbox: { history: 60, exchange } });
    const { height } = sandbox.chain.tip;
    await untilHeight(height);
    const linesBefore = lines.length;
    const before = await ask(AT, { at: height - 8 });
    sandbox.node.faults.set(TOO_MANY_FILES);
    for (const at of [height - 9, height - 9, height - 10]) {
      const { data, errors } = await ask(AT, { at });
      expect(data).toEqual({ poolPairs: null });
      const message = `The node responded with error ${code}.`;
      expect(errors).toEqual([expect.objectContaining({ ...RPC_ERROR, message })]);
      expect(JSON.stringify(errors)).not.toContain('open');
    }
    expect((await ask(HEALTH)).data.service.upstreams[0].lastErrorCode).toBe('UPSTREAM_RPC_ERROR');
    const node = new URL(sandbox.nodeUrl).host;
    const broken = expect.objectContaining({
      level: WARN,
      msg: 'a node cannot read earlier states',
      node,
      code: 'UPSTREAM_RPC_ERROR',
      retryable: true,
      because: expect.stringMatching(`^${code}: .*open /data/000123.ldb: too many open files$`),
    });
    expect(lines.slice(linesBefore)).toEqual([broken]);

    sandbox.node.faults.clear();
    expect(await ask(AT, { at: height - 9 })).toEqual(before);
    const recovered = { level: INFO, msg: 'a node can read earlier states again', node };
    expect(lines.slice(linesBefore)).toEqual([broken, recovered]);
  });

  test('costs few calls for a chart of many heights', async () => {
    const { ask, untilHeight, sandbox } = await startGatewayForTest({ sandbox: { history: 60 } });
    const { height } = sandbox.chain.tip;
    await untilHeight(height);
    sandbox.node.faults.set(TOO_MANY_FILES);
    sandbox.node.resetCalls();
    const heights = Array.from({ length: 40 }, (_, n) => height - 50 + n);
    const fields = heights.map((at) => `h${at}: poolPairs(first: 0, at: ${at}) { totalCount }`);
    const { data, errors } = await ask(`{ ${fields.join(' ')} }`);
    expect(Object.values(data)).toEqual(heights.map(() => null));
    expect(new Set(errors?.map(({ message }) => message))).toEqual(new Set([RPC_ERROR.message]));
    expect(sandbox.node.calls('getpdestate')).toBeLessThanOrEqual(4);
  });

  test('makes the head stale from the first read of a new block to the last, which the log says once', async () => {
    // The states are read again less and less often: most polls of the tip are in between.
    const config = { upstreamMaxPauseMs: 60_000 };
    const gateway = await startGatewayForTest({ config, sandbox: { history: 60 } });
    const { ask, untilHeight, sandbox, lines } = gateway;
    await untilHeight(sandbox.chain.tip.height);
    sandbox.node.faults.set(TOO_MANY_FILES);
    sandbox.advance();
    const isStale = async () => (await ask(HEALTH)).data.service.head.stale;
    await expect.poll(isStale).toBe(true);

    // The node goes on to show its tip, and to fail at the state.
    const reads: boolean[] = [];
    const polls = sandbox.node.calls('getblockchaininfo');
    while (reads.length < 20 || sandbox.node.calls('getblockchaininfo') < polls + 10) reads.push(await isStale());
    expect(new Set(reads)).toEqual(new Set([true]));
    expect(lines).toHaveLength(1);
  });

  test('costs nobody the state where another node can read it', async () => {
    const { ask, untilHeight, sandbox } = await openThreeNodes();
    const { height } = sandbox.chain.tip;
    await untilHeight(height);
    sandbox.node.faults.set(TOO_MANY_FILES);
    expect(await ask(AT, { at: height - 9 })).toEqual({ data: { poolPairs: POOLS } });
  });

  test('makes a height that another has pruned neither gone nor known to be there', async () => {
    const { ask, untilHeight, sandbox } = await openThreeNodes();
    const { height } = sandbox.chain.tip;
    await untilHeight(height);
    for (const node of sandbox.nodes) node.faults.set({ kind: 'pruned', blocks: 5 });
    sandbox.nodes[2]?.faults.clear();
    sandbox.nodes[2]?.faults.set(TOO_MANY_FILES);
    const { errors } = await ask(AT, { at: height - 9 });
    expect(errors).toEqual([expect.objectContaining(RPC_ERROR)]);
  });
});

describe('a node that answers -8000 because a height is in the future for it', () => {
  test('though the chain has reached it: it is behind, and is called again shortly', async () => {
    const { ask, untilHeight, sandbox } = await startGatewayForTest({ sandbox: { history: 60 } });
    const { height } = sandbox.chain.tip;
    await untilHeight(height);
    sandbox.node.faults.set({ kind: 'lag', blocks: 20, on: 'getpdestate', times: 1 });
    expect(await ask(AT, { at: height - 9 })).toEqual({ data: { poolPairs: POOLS } });
    expect(sandbox.node.calls('getpdestate')).toBe(3);
  });

  test('for long: a retryable error, because no node has said that the height is gone', async () => {
    const { ask, untilHeight, sandbox } = await startGatewayForTest({ sandbox: { history: 60 } });
    const { height } = sandbox.chain.tip;
    await untilHeight(height);
    sandbox.node.faults.set({ kind: 'lag', blocks: 20, on: 'getpdestate' });
    const { errors } = await ask(AT, { at: height - 9 });
    expect(errors).toEqual([expect.objectContaining(RPC_ERROR)]);
    sandbox.node.faults.clear();
    expect(await ask(AT, { at: height - 9 })).toEqual({ data: { poolPairs: POOLS } });
  });
});
