import { describe, expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';

describe('one answer describes one height', () => {
  test('two fields that need the exchange state read it once', async () => {
    const { ask, sandbox } = await startGatewayForTest();
    const { data, errors } = await ask('{ a: poolPairs { totalCount } b: poolPairs { totalCount } beaconHeight }');
    expect(errors).toBeUndefined();
    expect(data).toEqual({ a: { totalCount: 54 }, b: { totalCount: 54 }, beaconHeight: sandbox.chain.tip.height });
    expect(sandbox.node.calls('getpdestate')).toBe(1);
  });

  test('all fields describe a new block, and the head has the height before', async () => {
    const { ask, advance, sandbox } = await startGatewayForTest();
    await ask('{ beaconHeight }');
    const before = sandbox.chain.tip.height;
    await advance();
    const { tip } = sandbox.chain;
    const { data } = await ask(`{
      beaconHeight
      bestBlock { height hash }
      chainInfo { beacon { height } }
      poolPairs(first: 1) { nodes { beaconHeight } }
      service { head { beaconHeight previousHeight hash } }
    }`);
    expect(data).toEqual({
      beaconHeight: before + 1,
      bestBlock: { height: before + 1, hash: tip.hash },
      chainInfo: { beacon: { height: before + 1 } },
      poolPairs: { nodes: [{ beaconHeight: before + 1 }] },
      service: { head: { beaconHeight: before + 1, previousHeight: before, hash: tip.hash } },
    });
  });

  test.each([
    '{ service { head { beaconHeight } } beaconHeight }',
    '{ beaconHeight service { head { beaconHeight } } }',
    '{ service { head { beaconHeight } } poolPairs { totalCount } beaconHeight __schema { queryType { name } } }',
  ])('also while it waits for the first head: %s', async (query) => {
    const { ask, sandbox } = await startGatewayForTest({
      before: ({ node }) => void node.faults.set({ kind: 'delay', ms: 100, on: 'getpdestate' }),
    });
    const { height } = sandbox.chain.tip;
    expect((await ask(query)).data).toMatchObject({
      service: { head: { beaconHeight: height } },
      beaconHeight: height,
    });
  });

  test('the service field does not wait for a head that no other field needs', async () => {
    const { ask } = await startGatewayForTest({
      before: ({ node }) => void node.faults.set({ kind: 'hang', on: 'getpdestate' }),
    });
    const { data } = await ask('{ service { head { beaconHeight } } pairs { id } }');
    expect(data).toEqual({ service: { head: null }, pairs: expect.any(Array) });
  });

  test('a block that is replaced at its height is read again', async () => {
    const { ask, subscribe, sandbox } = await startGatewayForTest();
    const { height, hash } = sandbox.chain.tip;
    const heads = subscribe('subscription { head { beaconHeight previousHeight hash } }');
    expect(await heads.next()).toMatchObject({
      value: { data: { head: { beaconHeight: height, previousHeight: null, hash } } },
    });

    sandbox.replaceTip();
    const again = { beaconHeight: height, previousHeight: height, hash: sandbox.chain.tip.hash };
    expect(await heads.next()).toMatchObject({ value: { data: { head: again } } });
    expect(sandbox.chain.tip.hash).not.toBe(hash);
    const pool = sandbox.chain.pools.find(({ index }) => index === 0);
    const { data } = await ask(
      `{ poolPair(token1Id: "${pool?.token1.id}", token2Id: "${pool?.token2.id}") { token1PoolValue } }`,
    );
    expect(data.poolPair.token1PoolValue).toBe(String(pool && sandbox.chain.reserves(pool)?.reserve1));
    await heads.return(undefined);
  });
});

describe('requests of many clients share upstream calls', () => {
  test('30 clients at the current height cost no call', async () => {
    const { ask, sandbox } = await startGatewayForTest({ config: { headPollMs: 60_000, marketPollMs: 60_000 } });
    await ask('{ poolPairs { totalCount } pairs { id } tickers { id } }');
    sandbox.node.resetCalls();
    sandbox.marketData.resetCalls();

    const query =
      '{ beaconHeight poolPairs(first: 100) { nodes { price } } pairs { poolPair { price } ticker { lastPrice } } }';
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(query)));
    expect(answers.every(({ errors }) => errors === undefined)).toBe(true);
    expect(answers.every(({ data }) => data.beaconHeight === sandbox.chain.tip.height)).toBe(true);
    expect([sandbox.node.calls(), sandbox.marketData.calls()]).toEqual([0, 0]);
  });

  test('forty pools at four earlier heights cost four reads, and for the next client none', async () => {
    const { ask, sandbox } = await startGatewayForTest();
    const pools = sandbox.chain.pools.slice(0, 10);
    const heights = [10, 20, 30, 40].map((back) => sandbox.chain.tip.height - back);
    await ask('{ beaconHeight }');
    sandbox.node.resetCalls();

    const fields = heights.flatMap((at) =>
      pools.map(
        ({ index, token1, token2 }) =>
          `p${index}_${at}: poolPair(token1Id: "${token1.id}", token2Id: "${token2.id}", at: ${at}) { beaconHeight token1PoolValue }`,
      ),
    );
    const query = `{ ${fields.join('\n')} }`;
    const { data, errors } = await ask(query);
    expect(errors).toBeUndefined();
    expect(data).toEqual(
      Object.fromEntries(
        heights.flatMap((at) =>
          pools.map((pool) => [
            `p${pool.index}_${at}`,
            { beaconHeight: at, token1PoolValue: String(sandbox.chain.reserves(pool, at)?.reserve1) },
          ]),
        ),
      ),
    );
    expect(sandbox.node.calls('getpdestate')).toBe(4);

    await Promise.all([ask(query), ask(query)]);
    expect(sandbox.node.calls('getpdestate')).toBe(4);
  });

  test('20 readers of one order book share one upstream call', async () => {
    const { ask, sandbox } = await startGatewayForTest();
    const readers = Array.from({ length: 20 }, (_, depth) =>
      ask(`{ orderBook(tickerId: "pBTC_PRV", depth: ${depth}) { bestBid } }`),
    );
    const answers = await Promise.all(readers);
    expect(new Set(answers.map(({ data }) => data.orderBook.bestBid)).size).toBe(1);
    expect(sandbox.marketData.calls('orderbook')).toBe(1);
  });

  test('an order book is read again when its snapshot has expired', async () => {
    const { ask, clock, sandbox } = await startGatewayForTest({ config: { orderBookTtlMs: 1_000 } });
    const query = '{ orderBook(tickerId: "pBTC_PRV") { observedAt } }';
    const { data } = await ask(query);
    clock.now += 999;
    expect((await ask(query)).data).toEqual(data);
    expect(sandbox.marketData.calls('orderbook')).toBe(1);
    clock.now += 1;
    expect((await ask(query)).data).not.toEqual(data);
    expect(sandbox.marketData.calls('orderbook')).toBe(2);
  });

  test('while the tip does not move, each poll is one cheap call', async () => {
    const { ask, sandbox } = await startGatewayForTest();
    await ask('{ beaconHeight }');
    await expect.poll(() => sandbox.node.calls('getblockchaininfo')).toBeGreaterThan(3);
    expect(sandbox.node.calls('getbeaconbeststatedetail')).toBe(1);
    expect(sandbox.node.calls('getpdestate')).toBe(1);
  });
});
