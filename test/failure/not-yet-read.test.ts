import { describe, expect, test } from 'vitest';
import { keepEvents } from '../support/events.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../support/gateway.ts';
import { sumOf } from '../support/metrics.ts';
import { connect } from '../support/websocket.ts';

const QUERIES = {
  head: 'subscription { head { beaconHeight } }',
  prices: 'subscription { prices { beaconHeight previousHeight } }',
  tickers: 'subscription { tickers(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId } }',
  orderBook: 'subscription { orderBook(tickerId: "pBTC_PRV") { tickerId } }',
};
type Name = keyof typeof QUERIES;

/** Starts a gateway while none of its upstreams can be reached. */
async function startInOutage(options: TestGatewayOptions = {}) {
  const gateway = await startGatewayForTest({
    sandbox: { history: 60 },
    config: { orderBookTtlMs: 50, ...options.config },
    async before({ node, marketData }) {
      await node.stop();
      await marketData.stop();
    },
  });
  const { node, marketData } = gateway.sandbox;
  const endOutage = () => Promise.all([node.start(), marketData.start()]);
  return { ...gateway, endOutage };
}

const NAMES = { NODE: 'The node', MARKET_DATA: 'The market-data host' };

const unreachable = (field: Name, upstream: keyof typeof NAMES) => ({
  data: null,
  errors: [
    {
      message: `${NAMES[upstream]} cannot be reached.`,
      path: [field],
      locations: expect.anything(),
      extensions: { code: 'UPSTREAM_UNREACHABLE', upstream },
    },
  ],
});

const CASES = [
  ['head', 'NODE', (height: number) => ({ head: { beaconHeight: height } })],
  ['prices', 'NODE', (height: number) => ({ prices: { beaconHeight: height, previousHeight: null } })],
  ['tickers', 'MARKET_DATA', () => ({ tickers: [{ tickerId: 'pBTC_PRV' }] })],
  ['orderBook', 'MARKET_DATA', () => ({ orderBook: { tickerId: 'pBTC_PRV' } })],
] as const;

describe.each(CASES)('a subscription to %s that is opened before its data was read', (field, upstream, data) => {
  test('gets the error once, stays open, and gets the data when it arrives, as events', async () => {
    const { subscribe, endOutage, sandbox } = await startInOutage();
    const events = keepEvents(subscribe(QUERIES[field]));
    await expect.poll(() => events.answers.length).toBe(1);
    await endOutage();
    await expect.poll(() => events.answers.length).toBe(2);
    sandbox.advance(20);
    if (upstream === 'NODE') await expect.poll(() => events.answers.length).toBeGreaterThan(2);
    expect(events.answers.slice(0, 2)).toEqual([
      unreachable(field, upstream),
      { data: data(sandbox.chain.tip.height - 20) },
    ]);
    expect([events.isOpen(), events.answers.slice(2).flatMap(({ errors }) => errors ?? [])]).toEqual([true, []]);
  });

  test('the same on a websocket, where several subscribers share each update', async () => {
    const { app, endOutage, sandbox } = await startInOutage();
    const url = await app.listen(0, '127.0.0.1');
    const client = connect(url);
    const readers = Array.from({ length: 5 }, () => client.iterate({ query: QUERIES[field] }));
    const first = await Promise.all(readers.map((reader) => reader.next()));
    expect(first).toEqual(Array(5).fill({ done: false, value: unreachable(field, upstream) }));
    const second = Promise.all(readers.map((reader) => reader.next()));
    await endOutage();
    expect(await second).toEqual(Array(5).fill({ done: false, value: { data: data(sandbox.chain.tip.height) } }));
    const text = await (await fetch(new URL('/metrics', url))).text();
    expect(sumOf(text, 'pdex_operations_total', { type: 'subscribe', outcome: 'whole' })).toBe(5);
    expect(sumOf(text, 'pdex_operations_total', { type: 'update', outcome: 'failed' })).toBe(5);
    expect(sumOf(text, 'pdex_operations_total', { type: 'update', outcome: 'whole' })).toBe(5);
  });
});

describe('prices that are resumed before a height was read', () => {
  const after = (height: number) =>
    `subscription { prices(afterHeight: ${height}) { beaconHeight previousHeight missedHeights } }`;

  test.each([
    ['resume after a height below the newest', -3, { previousHeight: -3, missedHeights: 2 }, 0],
    [
      'wait for the height after one that is a little higher than the newest',
      1,
      { previousHeight: 1, missedHeights: 0 },
      2,
    ],
    ['begin with the newest after one that is far higher', 5_000, { previousHeight: undefined, missedHeights: 0 }, 0],
  ])('%s', async (_name, distance, expected, blocks) => {
    const { subscribe, endOutage, sandbox } = await startInOutage();
    const { height } = sandbox.chain.tip;
    const events = keepEvents(subscribe(after(height + distance)));
    await expect.poll(() => events.answers.length).toBe(1);
    await endOutage();
    if (blocks > 0) {
      const heads = subscribe(QUERIES.head);
      await expect.poll(async () => (await heads.next()).value?.data?.head.beaconHeight).toBe(height);
      sandbox.advance();
      await heads.next();
      sandbox.advance();
    }
    await expect.poll(() => events.answers.length).toBe(2);
    const { previousHeight, missedHeights } = expected;
    expect(events.answers).toEqual([
      unreachable('prices', 'NODE'),
      {
        data: {
          prices: {
            beaconHeight: height + blocks,
            previousHeight: previousHeight === undefined ? null : height + previousHeight,
            missedHeights,
          },
        },
      },
    ]);
  });

  test('resume after the last event of a browser, whose id the error does not replace', async () => {
    const { app, endOutage, sandbox } = await startInOutage();
    const url = await app.listen(0, '127.0.0.1');
    const { height } = sandbox.chain.tip;
    const response = await fetch(`${url}?query=${encodeURIComponent(QUERIES.prices)}`, {
      headers: { accept: 'text/event-stream', 'last-event-id': String(height - 3) },
    });
    const events: string[] = [];
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk);
      events.splice(0, events.length, ...text.split('\n\n').filter((event) => event.startsWith('event: next')));
      if (events.length === 1) await endOutage();
      if (events.length === 2) break;
    }
    expect(events[0]).toMatch(/^event: next\ndata: \{"errors":\[.*"data":null\}$/);
    expect(events[1]).toBe(
      `event: next\nid: ${height}\ndata: {"data":{"prices":{"beaconHeight":${height},"previousHeight":${height - 3}}}}`,
    );
  });
});

describe('an order book', () => {
  const NO_TICKER = 'subscription { orderBook(tickerId: "NO_PE") { tickerId } }';

  test('of a ticker that turns out not to exist is BAD_USER_INPUT', async () => {
    const { subscribe, endOutage, lines } = await startInOutage();
    const events = keepEvents(subscribe(NO_TICKER));
    await expect.poll(() => events.answers.length).toBe(1);
    await endOutage();
    await expect.poll(() => events.answers.length).toBe(2);
    const codes = events.answers.map(({ data, errors }) => [data, errors?.map(({ extensions }) => extensions.code)]);
    expect(codes).toEqual([
      [null, ['UPSTREAM_UNREACHABLE']],
      [null, ['BAD_USER_INPUT']],
    ]);
    // A ticker that does not exist is no failure of the host.
    await expect.poll(() => lines.at(-1)?.msg).toBe('an upstream can be read again');
  });
});
