import { describe, expect, test } from 'vitest';
import { keepEvents } from '../support/events.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

const MAX_AGE_MS = 60_000;

const LISTS = `{
  pairs(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId }
  tickers(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId }
  poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { pairs { tickerId } }
  service { marketData { ageMs stale } }
}`;
const TICKERS = 'subscription { tickers { tickerId lastPrice baseVolume targetVolume } }';

const ROW = [{ tickerId: 'pBTC_PRV' }];
const reading = (ageMs: number, stale: boolean) => ({ service: { marketData: { ageMs, stale } } });
const GOOD = { pairs: ROW, tickers: ROW, poolPair: { pairs: ROW } };
const LOST = { pairs: null, tickers: null, poolPair: { pairs: null } };

/** Starts a gateway that has read both lists once, and stops their host. */
async function openWithLastReadings() {
  const gateway = await startGatewayForTest({ config: { marketMaxAgeMs: MAX_AGE_MS }, sandbox: { history: 60 } });
  const { ask, app, sandbox } = gateway;
  await ask(LISTS);
  expect(await ask(LISTS)).toEqual({ data: { ...GOOD, ...reading(0, false) } });
  await sandbox.marketData.stop();
  const { pairs, tickers } = app.service.sources.market;
  await expect.poll(() => [pairs.isFailing(), tickers.isFailing()]).toEqual([true, true]);
  return gateway;
}

describe('the last good pairs and tickers, while their host is down', () => {
  test('are served with their age up to MARKET_MAX_AGE_MS, and not a millisecond longer', async () => {
    const { ask, clock } = await openWithLastReadings();
    clock.now += MAX_AGE_MS;
    expect(await ask(LISTS)).toEqual({ data: { ...GOOD, ...reading(MAX_AGE_MS, true) } });

    clock.now += 1;
    const { data, errors } = await ask(LISTS);
    expect(data).toEqual({ ...LOST, ...reading(MAX_AGE_MS + 1, true) });
    expect(errors).toHaveLength(3);
    for (const path of [['pairs'], ['tickers'], ['poolPair', 'pairs']]) {
      expect(errors).toContainEqual({
        message: 'The market-data host cannot be reached.',
        path,
        locations: expect.anything(),
        extensions: { code: 'UPSTREAM_UNREACHABLE', upstream: 'MARKET_DATA' },
      });
    }
  });

  test('an open subscription stays open beyond that age and then gets the newest', async () => {
    const { subscribe, clock, sandbox, ask } = await openWithLastReadings();
    const tickers = keepEvents(subscribe(TICKERS));
    await expect.poll(() => tickers.answers.length).toBe(1);
    clock.now += MAX_AGE_MS + 1;
    const late = keepEvents(subscribe(TICKERS));
    await expect.poll(() => late.answers.length).toBe(1);
    expect(late.answers).toEqual([
      {
        data: null,
        errors: [expect.objectContaining({ extensions: { code: 'UPSTREAM_UNREACHABLE', upstream: 'MARKET_DATA' } })],
      },
    ]);

    sandbox.advance(2);
    await sandbox.marketData.start();
    await expect.poll(() => tickers.answers.length).toBe(2);
    await expect.poll(() => late.answers.length).toBe(2);
    expect([late.isOpen(), late.answers[1]]).toEqual([true, tickers.answers[1]]);
    expect([tickers.isOpen(), tickers.answers.map(({ errors }) => errors)]).toEqual([true, [undefined, undefined]]);
    await expect.poll(() => ask(LISTS)).toEqual({ data: { ...GOOD, ...reading(0, false) } });
  });

  test('are not compared for a new subscriber beyond that age: it gets the error, then the list when it can be read', async () => {
    const { subscribe, clock, sandbox } = await openWithLastReadings();
    const ranking = 'subscription { divergentPairs(minPercent: 0) { tickerId divergence { lastPrice } } }';
    const early = keepEvents(subscribe(ranking));
    await expect.poll(() => early.answers.length).toBe(1);
    clock.now += MAX_AGE_MS + 1;
    const late = keepEvents(subscribe(ranking));
    await expect.poll(() => late.answers.length).toBe(1);
    sandbox.advance(2);
    await sandbox.marketData.start();
    await expect.poll(() => early.answers.length).toBeGreaterThan(1);
    await expect.poll(() => late.answers.at(-1)).toEqual(early.answers.at(-1));
    const [first, ...rest] = late.answers;
    expect(first?.errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_UNREACHABLE']);
    expect(rest).toEqual(early.answers.slice(1));
  });

  test('are never too old while the host responds, however rarely it is called', async () => {
    const { ask, clock } = await startGatewayForTest({
      config: { marketMaxAgeMs: 1, marketPollMs: 600_000 },
      sandbox: { history: 60 },
    });
    await ask(LISTS);
    clock.now += 1_000;
    expect(await ask(LISTS)).toEqual({ data: { ...GOOD, ...reading(1_000, false) } });
  });
});
