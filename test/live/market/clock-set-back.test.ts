import { expect, test } from 'vitest';
import { openRest } from '../../support/rest.ts';
import { until } from '../../support/until.ts';

const HOUR_MS = 3_600_000;
const TICKER = 'pBTC_PRV';
const BOOK = `{ orderBook(tickerId: "${TICKER}") { bestBid } }`;

/** A gateway that knows one order book, whose clock was then set back by an hour. */
async function openSetBack() {
  const opened = await openRest({ config: { marketMaxAgeMs: 600_000 } });
  const { ask, read, sandbox, clock } = opened;
  const calls = () => sandbox.marketData.calls('orderbook');
  const tickerOf = async () =>
    (await read('tickers')).tickers.find((ticker: Record<string, unknown>) => ticker['ticker_id'] === TICKER);
  // The third response is that of the cache.
  for (let n = 0; n < 3; n++) await ask(BOOK);
  await tickerOf();
  expect(calls()).toBe(1);
  clock.now -= HOUR_MS;
  return { ...opened, calls, tickerOf };
}

test('when the clock is set back, an order book is read again, once in its time to live', async () => {
  const { ask, calls, clock } = await openSetBack();
  for (let n = 0; n < 3; n++) expect((await ask(BOOK)).errors).toBeUndefined();
  expect(calls()).toBe(2);
  clock.now += 1_000;
  await ask(BOOK);
  expect(calls()).toBe(3);
});

test('a clock that is set back by less than the time to live causes no read', async () => {
  const { ask, calls, clock } = await openSetBack();
  clock.now += HOUR_MS - 999;
  for (let n = 0; n < 3; n++) await ask(BOOK);
  expect(calls()).toBe(1);
});

test('when the clock is set back, an old bid of REST is left out until its book is read again', async () => {
  const { ask, tickerOf } = await openSetBack();
  expect(await tickerOf()).not.toHaveProperty('bid');
  const { orderBook } = (await ask(BOOK)).data;
  expect(await tickerOf()).toMatchObject({ bid: orderBook.bestBid });
});

test('when the clock is set back while the host fails, the last lists still become too old', async () => {
  const { ask, app, sandbox } = await openSetBack();
  sandbox.marketData.faults.set({ kind: 'status', status: 503 });
  await until(() => app.service.sources.market.tickers.isFailing());
  expect((await ask('{ tickers { id } }')).errors?.[0]?.extensions.code).toBe('UPSTREAM_BAD_STATUS');
});
