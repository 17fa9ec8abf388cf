import { describe, expect, onTestFinished, test } from 'vitest';
import type { SandboxHostsOptions } from '../../src/sandbox/sandbox.ts';
import { ask, beaconState, bestBlocks, fixedSandbox, rpcBody, stateAt } from './support.ts';

async function open(options: SandboxHostsOptions = {}) {
  const sandbox = await fixedSandbox({ history: 50, ...options });
  onTestFinished(sandbox.close);
  return sandbox;
}

const post = (url: string) => fetch(url, { method: 'POST', body: rpcBody('getblockchaininfo') });

describe('a node on a branch of the chain', () => {
  test('has its own blocks in all calls, each on the previous one, above those of the chain', async () => {
    const { chain, node, nodeUrl, advance } = await open();
    const from = chain.tip.height;
    node.faults.set({ kind: 'fork', from });
    advance(2);
    const [own, previous] = [chain.branchBlock(from, from + 2), chain.branchBlock(from, from + 1)];
    if (own === undefined || previous === undefined) throw new Error('the branch has no blocks');

    expect((await bestBlocks(nodeUrl))['-1']).toMatchObject({ Height: from + 2, Hash: own.hash, Time: own.time });
    expect(await beaconState(nodeUrl)).toMatchObject({
      BeaconHeight: from + 2,
      BestBlockHash: own.hash,
      PreviousBestBlockHash: previous.hash,
    });
    for (let height = from; height <= from + 2; height++) {
      const [main, branch] = [chain.block(height), chain.branchBlock(from, height)];
      expect((await stateAt(nodeUrl, height)).Result.BeaconTimeStamp).toBe(branch?.time);
      expect([branch?.hash, branch?.time, branch?.reserves]).not.toEqual([main?.hash, main?.time, main?.reserves]);
      expect(branch?.time).not.toBe(main?.time);
    }
    expect((await stateAt(nodeUrl, from - 1)).Result.BeaconTimeStamp).toBe(chain.block(from - 1)?.time);
  });

  test('returns to the chain when the fault is cleared', async () => {
    const { chain, node, nodeUrl } = await open();
    const clearFault = node.faults.set({ kind: 'fork', from: chain.tip.height });
    expect((await bestBlocks(nodeUrl))['-1']?.Hash).not.toBe(chain.tip.hash);
    clearFault();
    expect((await bestBlocks(nodeUrl))['-1']?.Hash).toBe(chain.tip.hash);
  });
});

describe('a node that is still syncing', () => {
  test('reports old blocks, and newer ones many times a second, until it has reached the tip', async () => {
    const { chain, node, nodeUrl } = await open();
    node.faults.set({ kind: 'syncing', blocks: 40, everyMs: 50 });
    const first = (await bestBlocks(nodeUrl))['-1'];
    expect(first).toMatchObject({ Height: chain.tip.height - 40, Time: chain.block(chain.tip.height - 40)?.time });
    expect((await stateAt(nodeUrl, chain.tip.height)).Error).toMatchObject({ Code: -8000 });
    const heights: number[] = [];
    await expect
      .poll(async () => heights[heights.push((await bestBlocks(nodeUrl))['-1']?.Height ?? 0) - 1], { interval: 50 })
      .toBe(chain.tip.height);
    expect(new Set(heights).size).toBeGreaterThan(3);
  });
});

describe('a host with a rate limit', () => {
  test.each(['node', 'marketData'] as const)('refuses calls above it with 429: %s', async (name) => {
    const sandbox = await open();
    const call = () => (name === 'node' ? post(sandbox.nodeUrl) : ask(sandbox.marketDataUrl, 'pairs'));
    sandbox[name].faults.set({ kind: 'rate-limit', perSecond: 0.001, burst: 2, retryAfter: true });
    const statuses = [(await call()).status, (await call()).status];
    const refused = await call();
    expect([...statuses, refused.status, refused.headers.get('retry-after')]).toEqual([200, 200, 429, '1000']);
  });

  test('responds again later; by default one call at once, without Retry-After', async () => {
    const { node, nodeUrl } = await open();
    const clear = node.faults.set({ kind: 'rate-limit', perSecond: 0.001 });
    expect((await post(nodeUrl)).status).toBe(200);
    const refused = await post(nodeUrl);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null]);
    clear();
    node.faults.set({ kind: 'rate-limit', perSecond: 0.5 });
    for (const status of [429, 200]) await expect.poll(async () => (await post(nodeUrl)).status).toBe(status);
  });
});

describe('nodes behind one URL', () => {
  const hashAt = async (url: string) => (await bestBlocks(url))['-1']?.Hash;

  test('respond in turn', async () => {
    const { chain, nodes, nodeUrls, node } = await open({ nodes: 2, balanced: {} });
    node.faults.set({ kind: 'fork', from: chain.tip.height });
    const [url = ''] = nodeUrls;
    const fork = chain.branchBlock(chain.tip.height, chain.tip.height)?.hash;
    const main = chain.tip.hash;
    expect(nodeUrls).toHaveLength(1);
    expect([await hashAt(url), await hashAt(url), await hashAt(url), await hashAt(url)]).toEqual([
      fork,
      main,
      fork,
      main,
    ]);
    expect(nodes.map((each) => each.calls())).toEqual([2, 2]);
  });

  test('respond at random', async () => {
    const { nodes, nodeUrls } = await open({ nodes: 2, balanced: { order: 'random' } });
    for (let calls = 0; calls < 20; calls++) await hashAt(nodeUrls[0] ?? '');
    const counts = nodes.map((each) => each.calls());
    expect(Math.min(...counts)).toBeGreaterThan(2);
    expect(counts).not.toEqual([10, 10]);
  });

  test('can be some of them; the others have their own URLs', async () => {
    const { nodes, nodeUrls } = await open({ nodes: 3, balanced: { nodes: 2 } });
    expect(nodeUrls).toHaveLength(2);
    expect(nodeUrls[1]).toBe(nodes[2]?.url);
    expect(nodes.map(({ url }) => url)).not.toContain(nodeUrls[0]);
  });

  test('abort the call when the selected node does', async () => {
    const { node, nodeUrls } = await open({ nodes: 2, balanced: {} });
    const [url = ''] = nodeUrls;
    node.faults.set({ kind: 'reset' });
    await expect(post(url)).rejects.toThrow();
    expect((await post(url)).status).toBe(200);
    await node.stop();
    await expect(post(url)).rejects.toThrow();
  });
});
