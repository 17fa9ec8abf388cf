import { describe, expect, test } from 'vitest';
import { keepEvents } from '../support/events.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';

const TTL_MS = 50;
const BOOK = '{ orderBook(tickerId: "pBTC_PRV") { tickerId } }';
const FOLLOWED = 'subscription { orderBook(tickerId: "pBTC_PRV") { timestamp } }';

const open = () => startGatewayForTest({ config: { orderBookTtlMs: TTL_MS }, sandbox: { history: 60 } });

describe('an order book that cannot be read', () => {
  test('is requested once per TTL for all clients, and then again', async () => {
    const { ask, sandbox, clock } = await open();
    sandbox.marketData.faults.set({ kind: 'garbage', on: 'orderbook', times: 1 });
    const together = await Promise.all(Array.from({ length: 20 }, () => ask(BOOK)));
    const answers = [...together, await ask(BOOK)];
    const error = {
      message: 'The market-data host sent an invalid response: it is not JSON.',
      path: ['orderBook'],
      locations: expect.anything(),
      extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream: 'MARKET_DATA' },
    };
    expect(answers).toEqual(Array(21).fill({ data: { orderBook: null }, errors: [error] }));
    expect(sandbox.marketData.calls('orderbook')).toBe(1);

    clock.now += TTL_MS;
    expect(await ask(BOOK)).toEqual({ data: { orderBook: { tickerId: 'pBTC_PRV' } } });
    expect(sandbox.marketData.calls('orderbook')).toBe(2);
  });

  test('does not affect pairs, tickers and other books', async () => {
    const { ask, sandbox } = await open();
    sandbox.marketData.faults.set({ kind: 'reset-in-body', on: 'orderbook', times: 1 });
    expect((await ask(BOOK)).errors?.[0]?.extensions.code).toBe('UPSTREAM_UNREACHABLE');
    const beside =
      '{ pairs { id } tickers { id } orderBook(tickerId: "pETH_PRV") { tickerId } service { marketData { stale } } }';
    const { data, errors } = await ask(beside);
    expect([errors, data.orderBook, data.service]).toEqual([
      undefined,
      { tickerId: 'pETH_PRV' },
      { marketData: { stale: false } },
    ]);
  });

  test('whose last subscriber has left does not hide the next outage from the log', async () => {
    const { ask, subscribe, sandbox, lines } = await open();
    await ask('{ pairs { id } tickers { id } }');
    const events = subscribe(FOLLOWED);
    await events.next();
    const host = sandbox.marketData;
    host.faults.set({ kind: 'garbage', on: 'orderbook' });
    await expect.poll(() => lines.length).toBe(1);
    await events.return(undefined);
    await expect.poll(() => lines.length).toBe(2);

    await host.stop();
    await expect.poll(() => lines.length).toBe(3);
    await host.start();
    await expect.poll(() => lines.length).toBe(4);
    const outage = { level: WARN, msg: 'an upstream cannot be read', upstream: 'MARKET_DATA' };
    const recovered = { level: INFO, msg: 'an upstream can be read again', upstream: 'MARKET_DATA' };
    expect(lines).toMatchObject([outage, recovered, outage, recovered]);
  });

  test('keeps the host unhealthy until every followed book can be read', async () => {
    const { subscribe, sandbox, lines } = await open();
    const books = ['pBTC_PRV', 'pETH_PRV'].map((tickerId) =>
      keepEvents(subscribe(`subscription { orderBook(tickerId: "${tickerId}") { timestamp } }`)),
    );
    await expect.poll(() => books.map(({ answers }) => answers.length)).toEqual([1, 1]);
    sandbox.marketData.faults.set({ kind: 'garbage', on: 'orderbook' });
    const calls = sandbox.marketData.calls('orderbook');
    await expect.poll(() => sandbox.marketData.calls('orderbook')).toBeGreaterThan(calls + 4);
    sandbox.marketData.faults.clear();
    sandbox.advance();
    await expect.poll(() => books.map(({ answers }) => answers.length)).toEqual([2, 2]);
    expect(lines.map(({ level }) => level)).toEqual([WARN, INFO]);
  });

  test('is not sent to a new subscriber: it gets the error, and the book when it is read again', async () => {
    const { ask, subscribe, sandbox, app } = await open();
    await ask('{ pairs { id } tickers { id } }');
    const early = keepEvents(subscribe(FOLLOWED));
    await expect.poll(() => early.answers.length).toBe(1);
    sandbox.marketData.faults.set({ kind: 'garbage', on: 'orderbook' });
    await expect.poll(() => app.service.sources.orderBooks.followedBooks().books.size).toBe(0);

    const late = keepEvents(subscribe(FOLLOWED));
    await expect.poll(() => late.answers.length).toBe(1);
    sandbox.advance();
    const calls = sandbox.marketData.calls('orderbook');
    await expect.poll(() => sandbox.marketData.calls('orderbook')).toBeGreaterThan(calls + 1);
    sandbox.marketData.faults.clear();
    await expect.poll(() => early.answers.length).toBe(2);
    await expect.poll(() => late.answers.at(-1)).toEqual(early.answers[1]);
    expect(late.answers.map(({ errors }) => errors?.map(({ extensions }) => extensions.code))).toEqual([
      ['UPSTREAM_BAD_SHAPE'],
      undefined,
    ]);
  });

  test('is sent to those that came during the failure also if it is the same afterwards, and to no others', async () => {
    const { ask, subscribe, sandbox, app } = await open();
    await ask('{ pairs { id } tickers { id } }');
    const early = keepEvents(subscribe(FOLLOWED));
    await expect.poll(() => early.answers.length).toBe(1);
    sandbox.marketData.faults.set({ kind: 'garbage', on: 'orderbook' });
    await expect.poll(() => app.service.sources.orderBooks.followedBooks().books.size).toBe(0);
    const late = keepEvents(subscribe(FOLLOWED));
    await expect.poll(() => late.answers.length).toBe(1);
    sandbox.marketData.faults.clear();
    await expect.poll(() => late.answers[1]).toEqual(early.answers[0]);
    sandbox.advance();
    await expect.poll(() => [early.answers.length, late.answers.length]).toEqual([2, 3]);
  });

  test('because a traffic filter refuses its name does not affect the lists, however often it is requested', async () => {
    const { ask, sandbox, app } = await startGatewayForTest({
      config: { marketPollMs: 300, upstreamMaxPauseMs: 3_200_000 },
      sandbox: { history: 60 },
    });
    await ask('{ pairs { id } tickers { id } }');
    const host = sandbox.marketData;
    host.faults.set({ kind: 'html', status: 403, on: 'orderbook' });
    const names = sandbox.chain.markets
      .slice(0, 20)
      .map(({ tickerId }, n) => `a${n}: orderBook(tickerId: "${tickerId}") { tickerId }`);
    const { errors } = await ask(`{ ${names.join(' ')} }`);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(names.map(() => 'UPSTREAM_FILTERED'));

    const calls = host.calls('pairs');
    await expect.poll(() => host.calls('pairs')).toBeGreaterThan(calls + 1);
    expect(app.service.sources.market.freshness()?.stale).toBe(false);
  });

  test('and whose host sends Retry-After is not requested meanwhile, nor is another', async () => {
    const { ask, sandbox } = await startGatewayForTest({ config: { marketPollMs: 60_000 }, sandbox: { history: 60 } });
    await ask('{ pairs { id } tickers { id } }');
    const host = sandbox.marketData;
    host.faults.set({ kind: 'status', status: 429, retryAfter: 60, on: 'orderbook', times: 1 });
    for (const tickerId of ['pBTC_PRV', 'pETH_PRV']) {
      const { errors } = await ask(`{ orderBook(tickerId: "${tickerId}") { tickerId } }`);
      expect(errors?.map(({ message }) => message)).toEqual(['The market-data host responded with HTTP status 429.']);
    }
    expect(host.calls('orderbook')).toBe(1);
  });

  test('fails at once when the queue is full, and after half of the timeout when its call has not begun, and the lists are still read', async () => {
    const { ask, sandbox, app } = await startGatewayForTest({
      config: { upstreamMaxConnections: 3, upstreamMaxWaiting: 1, upstreamTimeoutMs: 500 },
      sandbox: { history: 60 },
    });
    // On a busy machine, the first lists can take longer than the timeout.
    await expect.poll(() => app.service.sources.market.freshness()?.stale).toBe(false);
    const host = sandbox.marketData;
    host.faults.set({ kind: 'hang', on: 'orderbook' });
    const { errors } = await ask(
      '{ a: orderBook(tickerId: "pBTC_PRV") { tickerId } b: orderBook(tickerId: "pETH_PRV") { tickerId } c: orderBook(tickerId: "PRV_pUSDT") { tickerId } }',
    );
    const codes = Object.fromEntries(errors?.map(({ path, extensions }) => [path?.[0], extensions.code]) ?? []);
    expect(codes).toEqual({ a: 'UPSTREAM_TIMEOUT', b: 'UPSTREAM_BUSY', c: 'UPSTREAM_BUSY' });
    expect(host.calls('orderbook')).toBe(1);
    await expect.poll(() => app.service.sources.market.freshness()?.stale).toBe(false);
  });
});

test('an invented ticker id reaches no host: it opens no circuit and evicts no book', async () => {
  const { ask, subscribe, sandbox, app } = await startGatewayForTest({ sandbox: { history: 60 } });
  await ask('{ pairs { id } tickers { id } orderBook(tickerId: "pBTC_PRV") { tickerId } }');
  const host = sandbox.marketData;
  host.faults.set({ kind: 'status', status: 429, retryAfter: 60, on: 'orderbook' });
  const ids = Array.from({ length: 1_100 }, (_, n) => `invented ${n}`);
  for (let start = 0; start < ids.length; start += 100) {
    const fields = ids.slice(start, start + 100).map((id, n) => `a${n}: orderBook(tickerId: "${id}", depth: 1) { id }`);
    const { data, errors } = await ask(`{ ${fields.join(' ')} }`);
    expect([errors, new Set(Object.values(data))]).toEqual([undefined, new Set([null])]);
  }
  const { value } = await subscribe('subscription { orderBook(tickerId: "invented") { id } }').next();
  expect(value?.errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  expect(host.calls('orderbook')).toBe(1);
  expect(app.service.sources.orderBooks.newest('pBTC_PRV')).toBeDefined();
  const polls = host.calls('tickers');
  await expect.poll(() => host.calls('tickers')).toBeGreaterThan(polls + 1);
  expect(app.service.sources.market.freshness()?.stale).toBe(false);
});
