import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '../../src/settings/settings.ts';
import { timesAlone } from '../support/fleet.ts';
import { startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

describe.skipIf(!hasRedis)('the replicas of a fleet', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());
  beforeEach(() => server.flush());

  /** Replicas in front of the sandbox of the first. They read together. */
  async function startReplicas(count: number, config: Partial<Config> = {}): Promise<TestGateway[]> {
    const redisUrl = [server.url];
    const first = await startGatewayForTest({ config: { redisUrl, ...config } });
    const { nodeUrls, marketDataUrl } = first.sandbox;
    const upstreams = { fullnodeUrl: nodeUrls.map((url) => new URL(url)), marketDataUrl: new URL(marketDataUrl) };
    const others = Array.from({ length: count - 1 }, () =>
      startGatewayForTest({ config: { redisUrl, ...config, ...upstreams } }),
    );
    const replicas = [first, ...(await Promise.all(others))];
    await Promise.all(replicas.map((replica) => replica.untilReady()));
    await untilTogether(replicas);
    return replicas;
  }

  const untilTogether = (replicas: readonly TestGateway[]) =>
    until(() => replicas.every(({ app }) => app.fleet?.status().isConnected === true));

  test('read a past height once, at the same time and later', async () => {
    const replicas = await startReplicas(4);
    const { sandbox } = replicas[0] as TestGateway;
    const calls = () => sandbox.node.calls('getpdestate');
    let at = sandbox.chain.tip.height - 50;
    let [read, readLate, alone] = [0, 0, 0];
    let late: readonly TestGateway[];
    // On a busy machine, Redis may not reply in time. Then a replica reads for itself, and they read another height.
    do {
      await untilTogether(replicas);
      at -= 1;
      const query = `{ poolPairs(first: 3, at: ${at}) { nodes { beaconHeight token1PoolValue token2PoolValue } } }`;
      alone = timesAlone(replicas);
      const before = calls();
      const answers = await Promise.all(replicas.map((replica) => replica.ask(query)));
      read = calls() - before;
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(answers[0]?.data.poolPairs.nodes).toHaveLength(3);

      late = await startReplicas(1, { fullnodeUrl: sandbox.nodeUrls.map((url) => new URL(url)) });
      const started = calls();
      expect(await late[0]?.ask(query)).toEqual(answers[0]);
      readLate = calls() - started;
    } while (timesAlone([...replicas, ...late]) !== alone);
    expect([read, readLate]).toEqual([1, 0]);
  });

  test('read an order book once, whose age they share', async () => {
    const replicas = await startReplicas(4, { orderBookTtlMs: 60_000 });
    const { sandbox } = replicas[0] as TestGateway;
    const tickerIds = sandbox.chain.markets.map(({ tickerId }) => tickerId);
    let [read, alone] = [0, 0];
    do {
      await untilTogether(replicas);
      const query = `{ ticker(tickerId: "${tickerIds.shift()}") { orderBook(depth: 4) { bestBid bestAsk bids { price quantity } } } }`;
      alone = timesAlone(replicas);
      const before = sandbox.marketData.calls('orderbook');
      const answers = await Promise.all(replicas.map((replica) => replica.ask(query)));
      read = sandbox.marketData.calls('orderbook') - before;
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(answers[0]?.data.ticker.orderBook.bids.length).toBeGreaterThan(0);
    } while (timesAlone(replicas) !== alone);
    expect(read).toBe(1);
  });

  test('read the order books of all tickers once, in turn', async () => {
    const replicas = await startReplicas(3, { bookSweepPerMinute: 1_200, orderBookTtlMs: 60_000 });
    const { sandbox } = replicas[0] as TestGateway;
    const tickersOf = async ({ app }: TestGateway): Promise<readonly { ticker_id: string; bid?: number }[]> => {
      const { origin } = new URL(await app.listen(0, '127.0.0.1'));
      return (await (await fetch(`${origin}/api/v1/public/market-data/tickers`)).json()).tickers;
    };
    const counts = async (replica: TestGateway) => {
      const tickers = await tickersOf(replica);
      const ids = (rows: typeof tickers) => new Set(rows.map((row) => row.ticker_id)).size;
      return { all: ids(tickers), withBid: ids(tickers.filter(({ bid }) => bid !== undefined)) };
    };
    // One of the books is empty, and may be read last.
    for (const replica of replicas)
      await until(async () => (await counts(replica)).withBid === (await counts(replica)).all - 1);
    const { all } = await counts(replicas[0] as TestGateway);
    await expect.poll(() => sandbox.marketData.calls('orderbook') === all || timesAlone(replicas) > 0).toBe(true);
  });
});
