import { expect, test } from 'vitest';
import { startGatewayForTest, type TestGateway } from '../support/gateway.ts';

const PAIR = 'id tickerId poolId baseId base targetId target';
const TICKER =
  'id tickerId poolId baseId baseCurrency targetId targetCurrency lastPrice baseVolume targetVolume poolPrice';
const LISTS = `{ pairs { ${PAIR} ticker { id } } tickers { ${TICKER} pair { id } } }`;
const ENTRY = '{ price quantity cumulativeQuantity cumulativeTotal exactPrice exactQuantity }';
const BOOK = `query ($tickerId: String!, $depth: Int) {
  orderBook(tickerId: $tickerId, depth: $depth) {
    id tickerId message timestamp bestBid bestAsk midPrice spread bids ${ENTRY} asks ${ENTRY} quality { isCrossed }
  }
}`;

type Entry = { readonly exactPrice: string; readonly exactQuantity: string };
type Book = { readonly bids: readonly Entry[]; readonly asks: readonly Entry[]; readonly quality: object };

/** Quantities that the host sends in several entries are sums. The second gateway gets the exact sum, not that of doubles. */
function withoutRounding(book: Book): Book {
  const exact = ({ exactPrice, exactQuantity }: Entry) => ({ exactPrice, exactQuantity });
  return { ...book, bids: book.bids.map(exact), asks: book.asks.map(exact) };
}

/** The tickers whose order books repeat prices in the sandbox. */
const REPEATING = ['pPOWR_PRV', 'pKNC_pETH', 'pZRX_PRV', 'pBAT_pETH'];

async function readAll({ ask }: TestGateway) {
  const { data } = await ask(LISTS);
  const tickerIds = [...new Set(data.pairs.map(({ tickerId }: { tickerId: string }) => tickerId)), 'pUNKNOWN_PRV'];
  const books: Record<string, Book | null> = {};
  for (const tickerId of tickerIds as string[]) {
    const answer = await ask(BOOK, { tickerId, depth: 0 });
    expect(answer.errors).toBeUndefined();
    const book: Book | null = answer.data.orderBook;
    books[tickerId] = book && REPEATING.includes(tickerId) ? withoutRounding(book) : book;
  }
  return { ...data, books };
}

test('a gateway that reads the REST API of another one has the same pairs, tickers and order books', async () => {
  const first = await startGatewayForTest();
  const url = new URL(await first.app.listen(0, '127.0.0.1'));
  await first.untilReady();
  const second = await startGatewayForTest({
    configOf: () => ({
      marketDataUrl: new URL(url.origin),
      fullnodeUrl: first.sandbox.nodeUrls.map((each) => new URL(each)),
    }),
  });
  await second.untilReady();

  const expected = await readAll(first);
  expect(expected.pairs.length).toBeGreaterThan(40);
  expect(Object.values(expected.books).filter((book) => book !== null).length).toBeGreaterThan(40);
  expect(await readAll(second)).toEqual(expected);
  expect(second.sandbox.marketData.calls()).toBe(0);

  // The host of the first one sends seconds and unsorted sides; the first one does not.
  const quality = '{ orderBook(tickerId: "pPOWR_PRV") { quality { wasSorted entriesMerged timestampUnit } } }';
  expect((await second.ask(quality)).data.orderBook.quality).toEqual({
    wasSorted: true,
    entriesMerged: 0,
    timestampUnit: 'MILLISECONDS',
  });
});

test('the second gateway keeps the last data while the first one has none', async () => {
  const first = await startGatewayForTest({ config: { marketMaxAgeMs: 1_000 } });
  const url = new URL(await first.app.listen(0, '127.0.0.1'));
  await first.untilReady();
  const second = await startGatewayForTest({ configOf: () => ({ marketDataUrl: new URL('/api/v1/public', url) }) });
  await second.untilReady();

  await first.sandbox.marketData.stop();
  const { pairs } = first.app.service.sources.market;
  await expect.poll(pairs.isFailing).toBe(true);
  first.clock.now += 1_001;
  const { pairs: copied } = second.app.service.sources.market;
  await expect.poll(copied.isFailing).toBe(true);
  expect((await second.ask('{ pairs { id } }')).data.pairs.length).toBeGreaterThan(40);
  await expect(copied.get()).resolves.toBeDefined();
  second.clock.now += 600_001;
  await expect(copied.get()).rejects.toMatchObject({ code: 'UPSTREAM_BAD_STATUS', status: 503 });
});
