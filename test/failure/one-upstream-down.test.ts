import { describe, expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';

const BOTH = `{
  beaconHeight
  poolPairs(first: 1) { nodes { beaconHeight pairs { id } } }
  pairs(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId poolPair { beaconHeight } ticker { id } }
  orderBook(tickerId: "pBTC_PRV") { tickerId }
}`;

describe('an upstream that is not configured', () => {
  test('leaves the data of the node whole where it is the market-data host', async () => {
    const { ask, sandbox } = await startGatewayForTest({ without: 'MARKET_DATA' });
    const { data, errors } = await ask(BOTH);
    const { height } = sandbox.world.tip;
    expect(data).toEqual({
      beaconHeight: height,
      poolPairs: { nodes: [{ beaconHeight: height, pairs: null }] },
      pairs: null,
      orderBook: null,
    });
    expect(errors?.map(({ path, extensions }) => [path?.[0], extensions])).toEqual(
      expect.arrayContaining(
        ['poolPairs', 'pairs', 'orderBook'].map((field) => [
          field,
          { code: 'UPSTREAM_NOT_CONFIGURED', upstream: 'MARKET_DATA' },
        ]),
      ),
    );
    expect(sandbox.marketData.calls()).toBe(0);
  });

  test('leaves market data whole where it is the node', async () => {
    const { ask, subscribe, sandbox } = await startGatewayForTest({ without: 'NODE' });
    const { data, errors } = await ask(BOTH);
    expect(data).toEqual({
      beaconHeight: null,
      poolPairs: null,
      pairs: [{ tickerId: 'pBTC_PRV', poolPair: null, ticker: { id: expect.any(String) } }],
      orderBook: { tickerId: 'pBTC_PRV' },
    });
    expect(new Set(errors?.map(({ extensions }) => JSON.stringify(extensions)))).toEqual(
      new Set([JSON.stringify({ upstream: 'NODE', code: 'UPSTREAM_NOT_CONFIGURED' })]),
    );
    const { value } = await subscribe('subscription { head { beaconHeight } }').next();
    expect(value?.errors?.[0]?.extensions).toEqual({ code: 'UPSTREAM_NOT_CONFIGURED', upstream: 'NODE' });
    expect(sandbox.node.calls()).toBe(0);
  });
});

describe('an upstream that cannot be reached', () => {
  test('from the start gives its fields an error, and heals by itself', async () => {
    const { ask, sandbox, untilHeight, clock } = await startGatewayForTest({
      before: async ({ node, marketData }) => {
        await node.stop();
        await marketData.stop();
      },
    });
    expect((await ask(BOTH)).data).toEqual({ beaconHeight: null, poolPairs: null, pairs: null, orderBook: null });
    const { errors } = await ask(BOTH);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(4).fill('UPSTREAM_UNREACHABLE'));
    expect(JSON.stringify(errors)).not.toMatch(/127\.0\.0\.1|localhost|ECONN|:\d{4,5}/);

    await sandbox.node.start();
    await sandbox.marketData.start();
    clock.now += 1_000;
    await expect.poll(async () => (await ask(BOTH)).errors).toBeUndefined();
    await untilHeight(sandbox.world.tip.height);
  });

  test('after it was read keeps serving the last good head, and tells its age', async () => {
    const { ask, sandbox, clock } = await startGatewayForTest();
    await ask(BOTH);
    await sandbox.node.stop();
    sandbox.advance(3);
    clock.now += 5_000;
    const query = '{ beaconHeight service { head { ageMs stale } upstreams { upstream healthy lastErrorCode } } }';
    await expect
      .poll(async () => (await ask(query)).data)
      .toEqual({
        beaconHeight: sandbox.world.tip.height - 3,
        service: {
          head: { ageMs: 5_000, stale: true },
          upstreams: [
            { upstream: 'NODE', healthy: false, lastErrorCode: 'UPSTREAM_UNREACHABLE' },
            { upstream: 'MARKET_DATA', healthy: true, lastErrorCode: null },
          ],
        },
      });

    await sandbox.node.start();
    await expect.poll(async () => (await ask(query)).data.service.head.stale).toBe(false);
    expect((await ask('{ beaconHeight }')).data).toEqual({ beaconHeight: sandbox.world.tip.height });
  });
});

describe('an upstream that answers badly', () => {
  test.each([
    [{ kind: 'html', status: 403 }, 'UPSTREAM_FILTERED'],
    [{ kind: 'html', status: 200 }, 'UPSTREAM_FILTERED'],
    [{ kind: 'status', status: 502, body: 'bad gateway at 10.0.0.1' }, 'UPSTREAM_BAD_STATUS'],
    [{ kind: 'garbage' }, 'UPSTREAM_BAD_SHAPE'],
    [{ kind: 'truncated' }, 'UPSTREAM_BAD_SHAPE'],
    [{ kind: 'empty' }, 'UPSTREAM_BAD_SHAPE'],
    [{ kind: 'reset' }, 'UPSTREAM_UNREACHABLE'],
    [{ kind: 'hang' }, 'UPSTREAM_TIMEOUT'],
    [{ kind: 'drip' }, 'UPSTREAM_TIMEOUT'],
    [{ kind: 'endless' }, expect.stringMatching(/UPSTREAM_TIMEOUT|UPSTREAM_BAD_SHAPE/)],
    [{ kind: 'wrong-id' }, 'UPSTREAM_BAD_SHAPE'],
  ] as const)('%o is %s, and the market data beside it is whole', async (fault, code) => {
    const { ask, sandbox } = await startGatewayForTest({
      config: { upstreamTimeoutMs: 300 },
      before: ({ node }) => void node.faults.set(fault),
    });
    const query = '{ beaconHeight pairs(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId } }';
    const { data, errors } = await ask(query);
    expect(data).toEqual({ beaconHeight: null, pairs: [{ tickerId: 'pBTC_PRV' }] });
    expect(errors?.map(({ path, extensions }) => [path, extensions])).toEqual([
      [['beaconHeight'], { code, upstream: 'NODE' }],
    ]);
    expect(JSON.stringify(errors)).not.toMatch(/127\.0\.0\.1|10\.0\.0\.1|:\d{4,5}/);
    const { data: status } = await ask('{ service { upstreams { upstream healthy lastErrorCode } } }');
    expect(status.service.upstreams[0]).toEqual({ upstream: 'NODE', healthy: false, lastErrorCode: code });

    sandbox.node.faults.clear();
    await expect.poll(async () => (await ask(query)).data.beaconHeight).toBe(sandbox.world.tip.height);
  });

  test('"no data" with status 200 is no success, and the pairs beside the tickers are whole', async () => {
    const { ask } = await startGatewayForTest({
      before: ({ marketData }) => void marketData.faults.set({ kind: 'no-data', on: 'tickers' }),
    });
    const { data, errors } = await ask('{ pairs(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId ticker { id } } }');
    expect(data.pairs).toEqual([{ tickerId: 'pBTC_PRV', ticker: null }]);
    expect(errors?.[0]).toMatchObject({
      path: ['pairs', 0, 'ticker'],
      extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream: 'MARKET_DATA' },
      message: 'The market-data host gave an answer of the wrong shape: expected an array at $.tickers.',
    });
  });
});
