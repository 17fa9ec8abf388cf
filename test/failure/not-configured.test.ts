import { describe, expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';

const BOTH = `{
  beaconHeight
  poolPairs(first: 1) { nodes { beaconHeight pairs { id } } }
  pairs(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId poolPair { beaconHeight } ticker { id } }
  orderBook(tickerId: "pBTC_PRV") { tickerId }
}`;

describe('an upstream that is not configured', () => {
  test('does not affect the data of the node if it is the market-data host', async () => {
    const { ask, sandbox } = await startGatewayForTest({ without: 'MARKET_DATA' });
    const { data, errors } = await ask(BOTH);
    const { height } = sandbox.chain.tip;
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

  test('does not affect market data if it is the node', async () => {
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
