import { describe, expect, test } from 'vitest';
import { keepEvents } from '../support/events.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

const PRICES = `subscription {
  prices(poolPairs: [{ token1Id: "${PRV}", token2Id: "${BTC}" }]) { beaconHeight poolPairs { pairs { tickerId } } }
}`;
const TICKERS = `subscription {
  tickers(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId pair { poolPair { beaconHeight } } }
}`;

describe('a subscription that needs both upstreams, one of which fails', () => {
  test('gets the prices, with an error for each list of pairs, and both when it recovers', async () => {
    const { subscribe, advance, sandbox, ask } = await startGatewayForTest({
      sandbox: { history: 60 },
      before: ({ marketData }) => void marketData.faults.set({ kind: 'html', status: 403 }),
    });
    const { height } = sandbox.chain.tip;
    const prices = keepEvents(subscribe(PRICES));
    await expect.poll(() => prices.answers.length).toBe(1);
    await advance();
    await expect.poll(() => prices.answers.length).toBe(2);
    const error = {
      message: 'The market-data host is blocked by a traffic filter, which responded with HTTP status 403.',
      path: ['prices', 'poolPairs', 0, 'pairs'],
      locations: expect.anything(),
      extensions: { code: 'UPSTREAM_FILTERED', upstream: 'MARKET_DATA' },
    };
    expect(prices.answers).toEqual(
      [height, height + 1].map((beaconHeight) => ({
        data: { prices: { beaconHeight, poolPairs: [{ pairs: null }] } },
        errors: [error],
      })),
    );

    sandbox.marketData.faults.clear();
    await expect.poll(async () => (await ask('{ pairs { id } }')).errors).toBeUndefined();
    await advance();
    await expect.poll(() => prices.answers.length).toBe(3);
    expect(prices.answers[2]).toEqual({
      data: { prices: { beaconHeight: height + 2, poolPairs: [{ pairs: [{ tickerId: 'pBTC_PRV' }] }] } },
    });
  });

  test('gets the tickers, with an error for each pool', async () => {
    const { subscribe } = await startGatewayForTest({
      sandbox: { history: 60 },
      before: ({ node }) => void node.faults.set({ kind: 'reset' }),
    });
    const tickers = keepEvents(subscribe(TICKERS));
    await expect.poll(() => tickers.answers.length).toBe(1);
    expect(tickers.answers).toEqual([
      {
        data: { tickers: [{ tickerId: 'pBTC_PRV', pair: { poolPair: null } }] },
        errors: [
          {
            message: 'The node cannot be reached.',
            path: ['tickers', 0, 'pair', 'poolPair'],
            locations: expect.anything(),
            extensions: { code: 'UPSTREAM_UNREACHABLE', upstream: 'NODE' },
          },
        ],
      },
    ]);
    expect(tickers.isOpen()).toBe(true);
  });
});
