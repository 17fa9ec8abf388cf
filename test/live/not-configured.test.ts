import { describe, expect, test } from 'vitest';
import { marketDataNotConfigured, nodesNotConfigured } from '../../src/live/not-configured.ts';
import { toAsyncValues } from '../support/async-values.ts';
import { SOMEONE } from '../upstream/connect.ts';
import { failureOf } from '../upstream/failure.ts';
import { headOf } from './chain/heads.ts';

const notConfigured = (upstream: string, name: string) => ({
  code: 'UPSTREAM_NOT_CONFIGURED',
  retryable: false,
  message: `${name} is not configured.`,
  extensions: { upstream },
});

describe('what is read where nothing is configured', () => {
  test('of a node: nothing, and every attempt says so', async () => {
    const { head, pastStates } = nodesNotConfigured();
    const failure = notConfigured('NODE', 'The node');
    expect(await failureOf(head.get())).toEqual(failure);
    expect(await failureOf(pastStates.read(5, headOf(10), SOMEONE))).toEqual(failure);
    expect([head.current(), head.isStale(), head.isFailing()]).toEqual([undefined, true, false]);
  });

  test('of a market-data host: nothing, and every attempt says so', async () => {
    const { market, orderBooks } = marketDataNotConfigured();
    const failure = notConfigured('MARKET_DATA', 'The market-data host');
    expect(await failureOf(market.pairs.get())).toEqual(failure);
    expect(await failureOf(market.tickers.get())).toEqual(failure);
    expect(await failureOf(orderBooks.read('pBTC_PRV', SOMEONE))).toEqual(failure);
    expect(market.freshness()).toBeUndefined();
  });

  test('whoever listens hears nothing, and can leave', async () => {
    const { head } = nodesNotConfigured();
    const { market, orderBooks } = marketDataNotConfigured();
    for (const listen of [head.subscribe, market.pairs.subscribe, orderBooks.subscribe()]) {
      const heard = toAsyncValues<unknown>(listen);
      const next = heard.next();
      await heard.return?.();
      expect(await next).toEqual({ done: true, value: undefined });
    }
    head.stop();
  });
});
