import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpFault, MarketDataFault } from '../../src/sandbox/faults.ts';
import { startGateway, startGatewayForTest } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';

type Place = Extract<HttpFault, { kind: 'shape' }>['path'];

const QUERY = `{
  beaconHeight
  pairs(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId }
  tickers(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId }
  orderBook(tickerId: "pBTC_PRV") { tickerId }
}`;
const ROW = { tickerId: 'pBTC_PRV' };
const STALE = '{ service { head { stale } marketData { stale } } }';

const open = (before?: Parameters<typeof startGatewayForTest>[0]) =>
  startGatewayForTest({ sandbox: { history: 60 }, config: { orderBookTtlMs: 50, marketPollMs: 50 }, ...before });

const whole = (beaconHeight: number) => ({ beaconHeight, pairs: [ROW], tickers: [ROW], orderBook: ROW });

describe('a response of the node with a wrong shape', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => {
    gateway = await startGateway({ sandbox: { history: 60 } });
    await gateway.untilReady();
  });
  afterAll(() => gateway.close());

  // The tests of the decoders have all other places.
  test.each<[on: 'getblockchaininfo' | 'getbeaconbeststatedetail' | 'getpdestate', Place, unknown, misfit: string]>([
    [
      'getblockchaininfo',
      ['Result', 'BestBlocks', '3', 'Height'],
      '12',
      'expected an integer at $.Result.BestBlocks["3"].Height',
    ],
    ['getbeaconbeststatedetail', ['Result', 'BeaconHeight'], -1, 'expected an integer at $.Result.BeaconHeight'],
    ['getpdestate', ['Result', 'PDEPoolPairs', '*'], [], 'expected an object at $.Result.PDEPoolPairs[…]'],
  ])('is an error that names the place, and the last head stays: %s: %j is %j', async (on, path, value, misfit) => {
    const { sandbox, app, ask, lines, untilHeight } = gateway;
    const { height } = sandbox.chain.tip;
    const ready = new URL('/ready', await app.listen(0, '127.0.0.1'));
    const before = lines.length;
    sandbox.node.faults.set({ kind: 'shape', on, path, value });
    sandbox.advance();
    const message = `the node cannot be read: The node sent an invalid response: ${misfit}`;
    await expect.poll(async () => (await fetch(ready)).status).toBe(503);
    expect(await (await fetch(ready)).json()).toMatchObject({
      reasons: [{ code: 'NODE_UNREADABLE', message: expect.stringContaining(message) }],
    });
    expect(await ask(QUERY)).toEqual({ data: whole(height) });

    sandbox.node.faults.clear();
    await untilHeight(height + 1);
    expect(lines.slice(before)).toEqual(outage('NODE', sandbox.nodeUrl));
  });

  test('is never data: clients get the error until there is a head, and later the last one stays', async () => {
    const path = ['Result', 'PDEPoolPairs', '*', 'Token1PoolValue'];
    const fault = { kind: 'shape', on: 'getpdestate', path, value: 1.5 } as const;
    const { sandbox, ask, lines, untilHeight } = await open({ before: ({ node }) => void node.faults.set(fault) });
    const { height } = sandbox.chain.tip;
    const answer = await ask(QUERY);
    expect(answer.data).toEqual({ ...whole(height), beaconHeight: null });
    const misfit = 'expected an integer at $.Result.PDEPoolPairs[…].Token1PoolValue';
    expect(answer.errors).toEqual([lost('NODE', ['beaconHeight'], misfit)]);

    sandbox.node.faults.clear();
    await expect.poll(() => ask(QUERY)).toEqual({ data: whole(height) });
    sandbox.node.faults.set(fault);
    sandbox.advance();
    await expect.poll(async () => (await ask(STALE)).data.service.head).toEqual({ stale: true });
    expect(await ask(QUERY)).toEqual({ data: whole(height) });

    sandbox.node.faults.clear();
    await untilHeight(height + 1);
    const logged = outage('NODE', sandbox.nodeUrl);
    expect(lines).toEqual([...logged, ...logged]);
  });
});

describe('a response of the market-data host with a wrong shape affects only its own fields', () => {
  test.each<[on: 'pairs' | 'tickers', what: string, MarketDataFault]>([
    ['pairs', '"no data" with status 200', { kind: 'no-data' }],
    ['tickers', 'an object in place of the list', { kind: 'shape', path: ['tickers'], value: {} }],
  ])('%s: %s', async (on, _, kind) => {
    const fault = { ...kind, on };
    const { sandbox, ask, lines } = await open({ before: ({ marketData }) => void marketData.faults.set(fault) });
    const misfit = `expected an array at $.${on}`;
    const { height } = sandbox.chain.tip;
    const answer = await ask(QUERY);
    expect(answer.data).toEqual({ ...whole(height), [on]: null });
    expect(answer.errors).toEqual([lost('MARKET_DATA', [on], misfit)]);

    sandbox.marketData.faults.clear();
    await expect.poll(() => ask(QUERY)).toEqual({ data: whole(height) });
    sandbox.marketData.faults.set(fault);
    await expect.poll(async () => (await ask(STALE)).data.service.marketData).toEqual({ stale: true });
    expect(await ask(QUERY)).toEqual({ data: whole(height) });

    sandbox.marketData.faults.clear();
    await expect.poll(async () => (await ask(STALE)).data.service.marketData).toEqual({ stale: false });
    const logged = outage('MARKET_DATA', sandbox.marketDataUrl);
    expect(lines).toEqual([...logged, ...logged]);
  });

  test('an order book: a text in place of a side', async () => {
    const { sandbox, ask, clock } = await open();
    await ask('{ pairs { id } }');
    const off = sandbox.marketData.faults.set({ kind: 'shape', on: 'orderbook', path: ['bids'], value: 'many' });
    const { height } = sandbox.chain.tip;
    const answer = await ask(QUERY);
    expect(answer.data).toEqual({ ...whole(height), orderBook: null });
    expect(answer.errors).toEqual([lost('MARKET_DATA', ['orderBook'], 'expected an array at $.bids')]);
    off();
    clock.now += 50;
    expect(await ask(QUERY)).toEqual({ data: whole(height) });
  });

  test('an order book without data is an error if its ticker is listed, otherwise there is no such ticker', async () => {
    const { ask, sandbox } = await open();
    await ask('{ pairs { id } }');
    sandbox.marketData.faults.set({ kind: 'no-data', on: 'orderbook' });
    const { data, errors } = await ask(
      '{ orderBook(tickerId: "pBTC_PRV") { tickerId } other: orderBook(tickerId: "x") { tickerId } }',
    );
    expect(data).toEqual({ orderBook: null, other: null });
    expect(errors).toEqual([lost('MARKET_DATA', ['orderBook'], 'no order book for a listed ticker')]);
  });
});

test('the book of a listed ticker without orders is empty, also if the host sends null for both sides', async () => {
  const value = { ticker_id: 'pBTC_PRV', timestamp: 1_767_225_600, bids: null, asks: null, message: 'OK' };
  const { ask } = await startGatewayForTest({
    before: ({ marketData }) => void marketData.faults.set({ kind: 'shape', on: 'orderbook', path: [], value }),
  });
  await ask('{ pairs { id } }');
  expect(await ask('{ orderBook(tickerId: "pBTC_PRV") { tickerId bids { price } asks { price } } }')).toEqual({
    data: { orderBook: { tickerId: 'pBTC_PRV', bids: [], asks: [] } },
  });
});

function lost(upstream: 'NODE' | 'MARKET_DATA', path: readonly string[], misfit: string) {
  const name = upstream === 'NODE' ? 'The node' : 'The market-data host';
  return {
    message: expect.stringContaining(`${name} sent an invalid response: ${misfit}`),
    path,
    locations: expect.anything(),
    extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream },
  };
}

/** The log of an outage: one line when it begins, one when it is over. */
function outage(upstream: 'NODE' | 'MARKET_DATA', url: string) {
  const { host } = new URL(url);
  const what = { level: WARN, msg: 'an upstream cannot be read', upstream, host, code: 'UPSTREAM_BAD_SHAPE' };
  const recovered = { level: INFO, msg: 'an upstream can be read again', upstream };
  return [expect.objectContaining(what), recovered];
}
