import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';
import { ask, askJson, bestBlocks, exchange, fixedSandbox, noon, rpc, rpcBody, rpcText, stateAt } from './support.ts';

describe('a sandbox', () => {
  test('sends the same bytes for the same seed and time', async () => {
    const sayings = async (seed: number) => {
      await using sandbox = await fixedSandbox({ seed, history: 50 });
      const { nodeUrl, marketDataUrl } = sandbox;
      const say = async () => [
        await rpcText(nodeUrl, 'getblockchaininfo'),
        await rpcText(nodeUrl, 'getbeaconbeststatedetail', ['']),
        await rpcText(nodeUrl, 'getpdestate', [{ BeaconHeight: sandbox.chain.tip.height }]),
        await (await ask(marketDataUrl, 'pairs')).text(),
        await (await ask(marketDataUrl, 'tickers')).text(),
        await (await ask(marketDataUrl, 'orderbook?ticker_id=pBTC_PRV')).text(),
      ];
      const first = await say();
      sandbox.advance(3);
      sandbox.replaceTip();
      return [...first, ...(await say())];
    };

    const [one, same, other] = [await sayings(5), await sayings(5), await sayings(6)];
    expect(one).toEqual(same);
    for (const [i, saying] of one.entries()) expect(saying).not.toBe(other[i]);
  });

  test('answers a GET with a body', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const body = rpcBody('getbeaconbeststatedetail', ['']);
    const response = await request(sandbox.nodeUrl, { method: 'GET', body });
    expect(await response.body.json()).toMatchObject({ Id: 1, Result: { BeaconHeight: 1_640_000 } });
  });

  test('creates blocks with advance', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    sandbox.advance();
    sandbox.advance(4);
    expect(sandbox.chain.tip).toMatchObject({ height: 1_640_005, time: noon + 5 * 40 });
    expect((await stateAt(sandbox.nodeUrl, 1_640_005)).Result.BeaconTimeStamp).toBe(noon + 5 * 40);
  });

  test('has several nodes of one chain, each with its own faults', async () => {
    await using sandbox = await fixedSandbox({ nodes: 3, history: 5 });
    const [first, second, third] = sandbox.nodes;
    expect(sandbox.node).toBe(first);
    second?.faults.set({ kind: 'lag', blocks: 2 });
    const states = [first, second, third].map(async (node) =>
      JSON.parse(await rpcText(node?.url ?? '', 'getbeaconbeststatedetail', [''])),
    );
    const heights = (await Promise.all(states)).map(({ Result }) => Result.BeaconHeight);
    expect(heights).toEqual([1_640_000, 1_639_998, 1_640_000]);
    expect([first, second, third].map((node) => node?.calls())).toEqual([1, 1, 1]);
  });

  test('creates blocks at the block interval', async () => {
    await using sandbox = await fixedSandbox({ history: 5, blockMs: 2 });
    await expect.poll(() => sandbox.chain.tip.height).toBeGreaterThan(1_640_003);
  });

  test('replaces its tip, with another hash and other reserves at the same height', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const { height } = sandbox.chain.tip;
    const see = async () => ({
      info: (await bestBlocks(sandbox.nodeUrl))['-1'],
      pools: (await stateAt(sandbox.nodeUrl, height)).Result.PDEPoolPairs,
    });
    const before = await see();
    sandbox.replaceTip();
    const after = await see();
    expect(after.info?.Height).toBe(height);
    expect(after.info?.Hash).not.toBe(before.info?.Hash);
    expect(after.pools).not.toEqual(before.pools);
  });

  test('starts at the configured time, as a date or in seconds, with blocks 40 s apart', async () => {
    await using one = await createSandboxHosts({ startTime: new Date(noon * 1_000), history: 5 });
    await using other = await fixedSandbox({ startTime: noon, history: 5 });
    for (const { chain } of [one, other]) {
      expect(chain.tip.time).toBe(noon);
      expect(chain.block(chain.oldestHeight)?.time).toBe(noon - 5 * 40);
    }
  });

  test('follows the clock without a start time', async () => {
    const before = Math.floor(Date.now() / 1_000);
    await using sandbox = await createSandboxHosts({ history: 5 });
    const started = sandbox.chain.tip.time;
    sandbox.advance(100);
    const after = Math.floor(Date.now() / 1_000);

    expect(started).toBeGreaterThanOrEqual(before);
    expect(sandbox.chain.block(sandbox.chain.oldestHeight)?.time).toBe(started - 5 * 40);
    expect(sandbox.chain.tip.time).toBeGreaterThanOrEqual(started);
    expect(sandbox.chain.tip.time).toBeLessThanOrEqual(after);
    const { timestamp } = await askJson(sandbox.marketDataUrl, 'orderbook?ticker_id=pBTC_PRV');
    expect(timestamp).toBe(sandbox.chain.tip.time);
  });

  test('fails if a port is in use, and releases the others', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const taken = Number(new URL(sandbox.nodeUrl).port);
    await expect(createSandboxHosts({ history: 5, ports: { marketData: taken } })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });
});

describe('a request to a host', () => {
  test('is counted by call, and in total', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    await rpc(sandbox.nodeUrl, 'getblockchaininfo');
    await stateAt(sandbox.nodeUrl, 1);
    await stateAt(sandbox.nodeUrl, 2);
    await rpcText(sandbox.nodeUrl, 'nope');
    await ask(sandbox.marketDataUrl, 'pairs');

    const { node, marketData } = sandbox;
    expect([node.calls('getblockchaininfo'), node.calls('getpdestate'), node.calls()]).toEqual([1, 2, 4]);
    expect([marketData.calls('pairs'), marketData.calls('tickers'), marketData.calls()]).toEqual([1, 0, 1]);
    node.resetCalls();
    expect([node.calls('getpdestate'), node.calls(), node.requests.length]).toEqual([0, 0, 0]);
  });

  test('is recorded with its method, path, headers, body and params', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    await stateAt(sandbox.nodeUrl, 3);
    await ask(sandbox.marketDataUrl, 'orderbook?ticker_id=pBTC_PRV');

    expect(sandbox.node.requests).toEqual([
      {
        method: 'POST',
        path: '/',
        headers: expect.objectContaining({ 'content-length': expect.any(String) }),
        body: rpcBody('getpdestate', [{ BeaconHeight: 3 }]),
        name: 'getpdestate',
        params: [{ BeaconHeight: 3 }],
        from: '127.0.0.1',
        at: expect.any(Number),
      },
    ]);
    expect(sandbox.marketData.requests).toMatchObject([
      {
        path: '/api/v1/public/market-data/orderbook?ticker_id=pBTC_PRV',
        name: 'orderbook',
        params: { ticker_id: 'pBTC_PRV' },
      },
    ]);
  });

  test('is recorded among the last 1,000, and always counted', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const one = 'GET /unknown HTTP/1.1\r\nHost: market\r\n';
    await exchange(sandbox.marketDataUrl, `${`${one}\r\n`.repeat(1_009)}${one}Connection: close\r\n\r\n`);
    expect(sandbox.marketData.calls()).toBe(1_010);
    expect(sandbox.marketData.requests).toHaveLength(1_000);
  });
});
