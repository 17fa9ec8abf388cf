import type { Locator, Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatDecimal, withUnit } from '../../explorer/src/format/amounts.ts';
import { formatInteger, formatPercent, formatPrice, formatQuantity } from '../../explorer/src/format/numbers.ts';
import {
  advanceOnPage,
  describeInBrowser,
  expectAccessible,
  expectToFit,
  holdAnswers,
  type OpenedPage,
  OWN_CLOCK,
  panel,
  parametersOf,
  screenshot,
  VIEWPORTS,
} from '../support/explorer.ts';
import { BTC, PRV } from '../support/tokens.ts';
import { recorded } from './recorded.ts';

/** The panel, after a reader has scrolled to it: what is far below the screen is not requested. */
async function scrollTo(page: Page, name: string) {
  // Until the market is loaded, other panels stand in the places of its panels.
  await page.getByRole('link', { name: 'Show the query: Market' }).waitFor();
  const found = panel(page, name);
  await found.scrollIntoViewIfNeeded();
  return found;
}

/** Records the title of the tab at each change of the page, before anything else runs, beside the price that the page shows. */
function recordTitles(): void {
  const titles: [string, string][] = [];
  Object.assign(globalThis, { titles });
  new MutationObserver(() => {
    const price = document.querySelector('section p [translate=no]')?.textContent;
    if (price != null) titles.push([price, document.title]);
  }).observe(document, { childList: true, characterData: true, subtree: true });
}

/** Makes the host fail to send order books, until the returned function is called. Both wait until the gateway has read it. */
async function failBooks({ sandbox, clock, ask }: OpenedPage['gateway']): Promise<() => Promise<void>> {
  const end = sandbox.marketData.faults.set({ kind: 'status', status: 500, on: 'orderbook' });
  const isReadable = async () => {
    // What it has read before is no longer fresh.
    clock.now += 2_000;
    return (await ask('{ orderBook(tickerId: "pBTC_PRV") { id } }')).errors === undefined;
  };
  await expect.poll(isReadable).toBe(false);
  return async () => {
    end();
    await expect.poll(isReadable).toBe(true);
  };
}

describeInBrowser('the page of a market', (browser) => {
  const shared = browser.share();

  test('shows its prices, candles, book, depth and divergence, and follows the chain', async () => {
    const opened = await browser.open('/market/pBTC_PRV?pay=100', { start: recorded() });
    const { page, gateway } = opened;
    await page.getByRole('heading', { level: 1, name: 'BTC / PRV' }).waitFor();
    await expect.poll(() => page.title()).toMatch(/^[\d,.]+ BTC\/PRV · pdex-gateway$/);

    const shown = async () => {
      const { data } = await gateway.ask(
        '{ pair(tickerId: "pBTC_PRV") { poolPrice exactPoolPrice change { high } orderBook { midPrice } } }',
      );
      const { poolPrice, change, orderBook } = data.pair;
      return [
        formatPrice(poolPrice),
        formatPrice(Math.max(change.high, poolPrice)),
        formatPrice(orderBook.midPrice),
      ] as const;
    };
    const expectShown = async () => {
      const [price, high, middle] = await shown();
      await panel(page, 'Market').getByText(price, { exact: true }).first().waitFor();
      await panel(page, 'Market').getByText(high, { exact: true }).first().waitFor();
      await panel(page, 'Price').getByText(`Close ${price}`).waitFor();
      await panel(page, 'Order book').getByText(middle, { exact: true }).waitFor();
      await panel(page, 'Divergence')
        .getByRole('row', { name: `Pool ${price}` })
        .waitFor();
      return price;
    };
    await scrollTo(page, 'Divergence');
    const before = await expectShown();
    await expect
      .poll(() => panel(page, 'Order book').getByRole('columnheader').allTextContents())
      .toEqual(['Price (PRV)', 'Quantity (BTC)', 'Sum (BTC)']);
    await panel(page, 'Depth')
      .getByText(/Up to .* PRV per BTC, .*\sBTC can be bought for .*\sPRV/)
      .waitFor();
    await panel(page, 'Price').locator('canvas').first().waitFor();

    for (const name of ['Market', 'Price', 'Order book', 'Depth', 'Divergence', 'Swap']) {
      const link = panel(page, name).getByRole('link', { name: `Show the query: ${name}` });
      const { pathname, searchParams } = new URL((await link.getAttribute('href')) ?? '', page.url());
      const document = searchParams.get('query') ?? '';
      const variables = JSON.parse(searchParams.get('variables') ?? '{}');
      const first = document.startsWith('subscription')
        ? (await gateway.subscribe(document, variables).next()).value
        : await gateway.ask(document, variables);
      expect([name, pathname, first?.errors, first?.data == null]).toEqual([name, '/graphql', undefined, false]);
    }

    await advanceOnPage(opened, 6);
    expect(await expectShown()).not.toBe(before);
    await expectToFit(page, 'market');
  });

  test('has its candles in other intervals and as a table, by URL and keyboard, and loads older ones', async () => {
    const { page, gateway } = await browser.open('/market/PRV_pDAI?interval=1m', { start: recorded({ history: 600 }) });
    const tab = (name: string) => page.getByRole('tab', { name, exact: true });
    await expect.poll(() => tab('1 min').getAttribute('aria-selected')).toBe('true');
    await panel(page, 'Price').locator('canvas').first().waitFor();
    await tab('Chart').focus();
    // Such as Alt+←, which is the browser's "Back".
    const isLeftToBrowser = await tab('Chart').evaluate((element) =>
      ['altKey', 'ctrlKey', 'metaKey'].map((modifier) => {
        const pressed = { key: 'ArrowLeft', bubbles: true, cancelable: true, [modifier]: true };
        return element.dispatchEvent(new KeyboardEvent('keydown', pressed));
      }),
    );
    expect(isLeftToBrowser).toEqual([true, true, true]);
    await page.keyboard.press('ArrowRight');
    const table = page.getByRole('table', { name: 'Candles, newest first, in DAI per PRV' });
    const rows = table.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(300);
    const { data } = await gateway.ask(
      `{ pair(tickerId: "PRV_pDAI") { poolPair { candles(interval: ONE_MINUTE, last: 500) { inverseOpen inverseHigh inverseLow inverseClose } } } }`,
    );
    const { candles } = data.pair.poolPair;
    const newest: Record<string, number> = candles.at(-1);
    const four = Object.values(newest);
    expect((await rows.first().locator('td').allTextContents()).slice(1, 5)).toEqual(
      [newest['inverseOpen'], Math.max(...four), Math.min(...four), newest['inverseClose']].map(formatPrice),
    );
    await page.getByRole('button', { name: 'Load older candles' }).press('Enter');
    await expect.poll(() => rows.count()).toBe(candles.length);
    await page.locator('h2:focus', { hasText: 'Price' }).waitFor();

    await tab('1 min').focus();
    const release = await holdAnswers(page, 'Candles');
    await page.keyboard.press('End');
    await expect.poll(() => parametersOf(page)).toEqual({ interval: '1d', view: 'table' });
    // There are no rows while the new ones are loaded.
    await expect.poll(() => panel(page, 'Price').getAttribute('aria-busy')).toBe('true');
    expect(await rows.count()).toBe(0);
    release();
    await rows.first().waitFor();
    expect(await rows.count()).toBeLessThanOrEqual(2);
    const marked = rows.locator('td:first-child', { hasText: '*' });
    await marked.first().waitFor();
    await panel(page, 'Price')
      .getByText(`Candles with * (${await marked.count()}) miss some heights`)
      .waitFor();
    await page.reload();
    await rows.first().waitFor();
    await expect.poll(() => tab('1 d').getAttribute('aria-selected')).toBe('true');
    await expectAccessible(page);
  });

  test('misses no candle after it was in the background, also if older ones were loaded before', async () => {
    const opened = await browser.open('/market/PRV_pDAI?interval=1m&view=table', { start: recorded({ history: 600 }) });
    const { page, gateway } = opened;
    const rows = panel(page, 'Price').locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(300);
    await page.getByRole('button', { name: 'Load older candles' }).press('Enter');
    await expect.poll(() => rows.count()).toBeGreaterThan(300);
    const hide = (value: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, value);
    const recordedTimes = async (): Promise<string[]> => {
      const { data } = await gateway.ask(
        `{ pair(tickerId: "PRV_pDAI") { poolPair { candles(interval: ONE_MINUTE, last: 500) { openTime } } } }`,
      );
      const { candles } = data.pair.poolPair;
      return candles.map(({ openTime }: { openTime: string }) => openTime.slice(0, 16).replace('T', ' '));
    };
    const before = (await recordedTimes()).length;
    await hide(true);
    for (let block = 0; block < 6; block++) await advanceOnPage(opened);
    // Six blocks take four minutes. What is recorded after the page is seen again, it would get later.
    await expect.poll(async () => (await recordedTimes()).length).toBeGreaterThanOrEqual(before + 3);
    await hide(false);
    const missing = async () => {
      const shown = (await rows.locator('td:first-child').allTextContents()).map((text) => text.slice(0, 16));
      return (await recordedTimes()).filter((time: string) => !shown.includes(time));
    };
    await expect.poll(missing).toEqual([]);
  });

  test('has an order book that can be grouped, and says how good it is', async () => {
    const { page } = await browser.open('/market/pBTC_PRV', { gateway: shared() });
    const book = panel(page, 'Order book');
    await expect
      .poll(() => book.getByLabel('Group prices by').locator('option').first().textContent())
      .toBe('not grouped');
    const prices = () => book.locator('tr[style] td:first-child').allTextContents();
    await expect.poll(async () => (await prices()).length).toBe(22);
    await book.getByLabel('Group prices by').selectOption({ label: '100 PRV' });
    const isGrouped = async () => (await prices()).every((price) => Number(price.replaceAll(',', '')) % 100 === 0);
    await expect.poll(isGrouped).toBe(true);
    expect(await book.locator('td[title^=worth]').first().getAttribute('title')).toMatch(/^worth [\d.,]+[KM]? PRV$/);
    await expect.poll(() => parametersOf(page)).toEqual({ group: '100' });
    await page.reload();
    await expect.poll(() => book.getByLabel('Group prices by').inputValue()).toBe('100');

    await page.goto(new URL('/market/pPOWR_PRV', page.url()).href);
    await book.getByText('Crossed: the best bid is above the best ask.').waitFor();
    await book.getByText('The host sent the orders unsorted.').waitFor();
    // The gateway has merged equal prices, so different rows show different ones.
    const fine = await prices();
    expect(new Set(fine).size).toBe(fine.length);
    await page.goto(new URL('/market/pSWAP_pUSDT', page.url()).href);
    await book.getByText('The order book is empty').waitFor();
  });

  test('says first that a book is crossed, has no order of 0, and stays where it is when orders come and go', async () => {
    const opened = await browser.open('/market/pPOWR_PRV', { start: { config: { orderBookTtlMs: 20 } } });
    const book = panel(opened.page, 'Order book');
    const warning = book.getByText('Crossed: the best bid is above the best ask.');
    await warning.waitFor();
    const table = book.getByRole('table');
    const middle = table.locator('td[colspan="3"] b');
    const places = async () => [await table.boundingBox(), await middle.boundingBox()];
    const before = await places();
    expect((await warning.boundingBox())?.y).toBeLessThan(before[0]?.y ?? 0);
    for (let height = 0; height < 3; height += 1) {
      const shown = await table.textContent();
      await advanceOnPage(opened);
      await expect.poll(() => table.textContent()).not.toBe(shown);
      const quantities = await table.locator('tr[style] td:not(:first-child)').allTextContents();
      expect(quantities.filter((quantity) => Number(quantity.replaceAll(',', '')) === 0)).toEqual([]);
      expect(await places()).toEqual(before);
    }
  });

  test('leads with one price, and has the others and the sources of the volumes in its details, which follow the chart on a phone', async () => {
    const { page, gateway } = await browser.open('/market/pBTC_PRV', { start: recorded() });
    const { data } = await gateway.ask(
      '{ pair(tickerId: "pBTC_PRV") { poolPrice exactPoolPrice poolPair { spotPrice } ticker { lastPrice baseVolume targetVolume } divergence { bookMidPrice } change { percent } } }',
    );
    const { poolPrice, exactPoolPrice, poolPair, ticker, divergence, change } = data.pair;
    const market = panel(page, 'Market');
    await market.getByText(`${formatPercent(change.percent)} in 24 h`).waitFor();
    const figures = async (within: Locator) =>
      Object.fromEntries(
        await within
          .locator('dl > div')
          .evaluateAll((all) => all.map(({ children: [name, value] }) => [name?.textContent, value?.textContent])),
      );
    expect(await market.getByText(formatPrice(poolPrice), { exact: true }).count()).toBe(1);
    await market.getByText("Price of the pool at this height, by the exchange's formula for one whole BTC").waitFor();
    const shown = await figures(market);
    expect(Object.keys(shown)).toEqual(['Last trade', '24 h high', '24 h low', '24 h volume', 'In the pool']);
    expect(shown).toMatchObject({
      'Last trade': formatPrice(ticker.lastPrice),
      '24 h volume': withUnit(formatQuantity(ticker.baseVolume), 'BTC'),
    });

    // A last trade of the host can be outside of the pool's high and low.
    for (const name of ['Last trade', '24 h volume']) {
      await market.locator('dl > div', { hasText: name }).getByText('by the market-data host').waitFor();
    }

    const details = page.locator('details');
    expect(await details.getByText('Spot price').isVisible()).toBe(false);
    await details.locator('summary').press('Enter');
    await details.getByText('Spot price').waitFor();
    await expect
      .poll(() => figures(details))
      .toEqual({
        'Spot price': formatPrice(poolPair.spotPrice),
        'Exact price': formatDecimal(exactPoolPrice),
        'Middle of the book': formatPrice(divergence.bookMidPrice),
        'Last trade': formatPrice(ticker.lastPrice),
        '24 h volume by the market-data host': `${withUnit(formatQuantity(ticker.baseVolume), 'BTC')}, ${withUnit(formatQuantity(ticker.targetVolume), 'PRV')}`,
        '24 h volume through the pool': expect.stringMatching(/^[\d.,]+\u00a0BTC$/),
      });
    // Each has a line on why it differs.
    expect(await details.locator('dl > div > dd:nth-child(3)').count()).toBe(6);
    await expectAccessible(page);
    await screenshot(page, 'market-details');

    await page.setViewportSize(VIEWPORTS.phone);
    const parts = [market, panel(page, 'Price'), details, panel(page, 'Order book')];
    const tops = () => Promise.all(parts.map(async (part) => (await part.boundingBox())?.y ?? 0));
    await expect
      .poll(tops)
      .toSatisfy((all: number[]) => all.every((top, place) => place === 0 || top > (all[place - 1] ?? 0)));
  });

  test('does not say that nobody has an order if the orders cannot be read', async () => {
    const { page, gateway } = await browser.open('/market/pBTC_PRV', { start: { config: { orderBookTtlMs: 20 } } });
    const book = panel(page, 'Order book');
    await book.getByText(/^Spread /).waitFor();
    const { faults } = gateway.sandbox.marketData;
    const restore = faults.set({ kind: 'shape', on: 'orderbook', path: ['asks', '*', 0], value: 'n/a' });
    await book.getByText('One side has no order that can be read').waitFor();
    await book.getByText(/^\d+ orders without a valid price or quantity left out\.$/).waitFor();

    restore();
    const value = { bids: [['n/a', 1]], asks: [], timestamp: 1 };
    faults.set({ kind: 'shape', on: 'orderbook', path: [], value });
    // A page that is opened before the gateway has read this shows the last book.
    const read = async () => (await gateway.ask('{ orderBook(tickerId: "pBTC_PRV") { midPrice } }')).errors?.[0];
    await expect.poll(read).toMatchObject({ extensions: { code: 'UPSTREAM_BAD_SHAPE' } });
    await page.reload();
    await book.getByText('UPSTREAM_BAD_SHAPE').waitFor();
    expect(await book.getByText(/empty|Nobody/).count()).toBe(0);
  });

  test('says that a book is old while it alone cannot be read', async () => {
    // The lists of markets stay fresh when the clock moves: they are polled rarely.
    const start = { config: { orderBookTtlMs: 20, marketPollMs: 60_000 } };
    const opened = await browser.open('/market/pBTC_PRV', { ...OWN_CLOCK, start });
    const { page, gateway } = opened;
    const unanswered = new Set<Request>();
    page.on('request', (request) => void unanswered.add(request));
    page.on('requestfinished', (request) => void unanswered.delete(request));
    page.on('requestfailed', (request) => void unanswered.delete(request));
    const book = panel(page, 'Order book');
    await book.getByText(/^Spread /).waitFor();
    const old = book.getByText('This book is old. The market-data host responds with an error status.');
    const isOutdated = () => book.getByRole('table').getAttribute('data-outdated');
    expect([await old.count(), await isOutdated()]).toEqual([0, 'false']);

    const restore = await failBooks(gateway);
    await advanceOnPage(opened);
    await old.waitFor();
    expect(await isOutdated()).toBe('true');
    expect(await page.locator('[data-notice$="-stale"]').count()).toBe(0);
    await expectAccessible(page);
    await screenshot(page, 'market-old-book');

    // No retry and no block says that it can be read: the next update of the book is enough.
    await page.clock.pauseAt(Date.now() + 60_000);
    // The error of a retry that has begun would be newer than the update.
    await expect.poll(() => unanswered.size).toBe(0);
    await restore();
    await old.waitFor({ state: 'detached' });
    expect(await isOutdated()).toBe('false');
  });

  test('requests depth and divergence at each height while the book cannot be read, so both have it again at the next', async () => {
    const opened = await browser.open('/market/pBTC_PRV', OWN_CLOCK);
    const { page, gateway } = opened;
    await page.setViewportSize({ ...VIEWPORTS.wide, height: 3_000 });
    const [depth, divergence] = [panel(page, 'Depth'), panel(page, 'Divergence')];
    const withBook = depth.getByText('Pool and order book');
    const unread = divergence.getByText('The order book cannot be read now.');
    const advance = async () => {
      const shown = `height ${formatInteger(await advanceOnPage(opened))}`;
      await Promise.all([depth, divergence].map((each) => each.getByText(shown).waitFor()));
    };
    await withBook.waitFor();
    await advance();
    // Only new blocks bring requests: no retry comes after a while.
    await page.clock.pauseAt(Date.now() + 60_000);

    const restore = await failBooks(gateway);
    for (const _height of [1, 2, 3]) {
      await advance();
      await withBook.waitFor({ state: 'detached' });
      expect(await unread.count()).toBe(1);
    }
    await restore();
    await advance();
    await withBook.waitFor();
    expect(await unread.count()).toBe(0);
  });

  test('calculates a swap, exactly, again at each height, and as a URL', async () => {
    const opened = await browser.open('/market/pBTC_PRV');
    const { page, gateway } = opened;
    const swap = await scrollTo(page, 'Swap');
    const [pay, receive] = [swap.getByLabel('You pay'), swap.getByLabel('You receive')];
    await swap.getByText('it sends nothing to the chain').waitFor();
    await pay.fill('1,23,456');
    await swap.getByRole('alert').getByText('Enter a number, such as 1.5').waitFor();
    await pay.fill('0.0000000001');
    await swap.getByText('PRV has at most 9 decimals, this has 10.').waitFor();

    await pay.fill('1000');
    const quoted = async (variables: string) => {
      const { data } = await gateway.ask(
        `{ quote(${variables}) { sellAmount buyAmount minimumReceived(slippagePercent: 1) route { sellAmount } } }`,
      );
      return data.quote;
    };
    const whole = (units: string) => Number(units) / 1e9;
    const selling = `sellTokenId: "${PRV}", buyTokenId: "${BTC}", sellAmount: "1000000000000"`;
    const first = await quoted(selling);
    await expect.poll(() => receive.inputValue()).toBe(String(whole(first.buyAmount)));
    await expect.poll(() => parametersOf(page)).toEqual({ from: 'token1', pay: '1000' });
    // The page stays where the reader has scrolled to, though the URL has changed.
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0);
    await swap.getByLabel('Slippage that you accept').selectOption('1%');
    await swap.getByText(`${whole(first.minimumReceived)} BTC`).waitFor();
    await expect.poll(() => swap.getByRole('listitem').count()).toBe(first.route.length);

    const spoken = swap.getByRole('status');
    await expect.poll(() => spoken.textContent()).toMatch(/^You receive [\d.]+\sBTC for 1,000\sPRV/);
    const before = await spoken.textContent();
    const quotedAt = async (height: number) =>
      swap
        .getByText(`height ${height.toLocaleString('en-US')}`)
        .first()
        .waitFor();
    let next = first;
    while (next.buyAmount === first.buyAmount) {
      await quotedAt(await advanceOnPage(opened));
      next = await quoted(selling);
    }
    await expect.poll(() => receive.inputValue()).toBe(String(whole(next.buyAmount)));
    // A screen reader would read each change out.
    expect(await spoken.textContent()).toBe(before);

    const height = await advanceOnPage(opened, 5);
    const second = await quoted(selling);
    expect(second.buyAmount).not.toBe(first.buyAmount);
    await expect.poll(() => receive.inputValue()).toBe(String(whole(second.buyAmount)));
    await quotedAt(height);

    await receive.fill('0.5');
    const third = await quoted(`sellTokenId: "${PRV}", buyTokenId: "${BTC}", buyAmount: "500000000"`);
    // Without separators: somebody can change its digits.
    await expect.poll(() => pay.inputValue()).toBe(String(whole(third.sellAmount)));
    expect(whole(third.sellAmount)).toBeGreaterThan(1_000);
    await swap.getByRole('button', { name: 'Swap in the other direction: pay BTC, receive PRV' }).click();
    const fourth = await quoted(`sellTokenId: "${BTC}", buyTokenId: "${PRV}", sellAmount: "500000000"`);
    const received = String(whole(fourth.buyAmount));
    await expect.poll(() => receive.inputValue()).toBe(received);
    await expect.poll(() => parametersOf(page)).toEqual({ from: 'token2', pay: '0.5', slippage: '1' });
    await page.reload();
    await scrollTo(page, 'Swap');
    await expect.poll(() => receive.inputValue()).toBe(received);

    await pay.fill('1000000');
    await swap.getByText('(very high)').waitFor();
    await swap.getByText('This trade loses a large part of its value').waitFor();
    // For a screen reader.
    await swap
      .getByRole('status')
      .getByText(/^You receive [\d.,]+M?\u00a0PRV for 1M?[\d.,]*\u00a0BTC, impact on the price: [\d.]+%, very high\.$/)
      .waitFor();
    await pay.fill('0.000000001');
    await expectAccessible(page);
  });

  test('shows no amount of an earlier quote beside a new amount', async () => {
    let isHeld = false;
    const held: (() => void)[] = [];
    const { page } = await browser.open('/market/pBTC_PRV?pay=1000', {
      gateway: shared(),
      context: {},
      before: (opened) =>
        opened.routeWebSocket(/graphql/, (client) => {
          const server = client.connectToServer();
          server.onMessage((message) => {
            if (isHeld && String(message).includes('"quote"')) held.push(() => client.send(message));
            else client.send(message);
          });
        }),
    });
    const swap = await scrollTo(page, 'Swap');
    const receive = swap.getByLabel('You receive');
    await expect.poll(() => receive.inputValue()).toMatch(/^\d/);
    const before = await receive.inputValue();
    const quotedAt = swap.getByText('Quoted at').locator('xpath=following-sibling::dd[1]');
    await expect.poll(() => quotedAt.textContent()).toMatch(/^height /);

    isHeld = true;
    await swap.getByLabel('You pay').fill('1.5');
    await expect.poll(() => held.length).toBe(1);
    expect(await receive.inputValue()).toBe('');
    expect(await receive.getAttribute('placeholder')).toBe('…');
    await swap.getByText('is being calculated').waitFor({ state: 'attached' });
    expect(await quotedAt.textContent()).toBe('before your change');
    await expectAccessible(page);
    await screenshot(page, 'swap-pending');

    held[0]?.();
    await expect.poll(() => receive.inputValue()).toMatch(/^\d/);
    expect(Number(await receive.inputValue())).toBeLessThan(Number(before) / 100);
    expect(await quotedAt.textContent()).toMatch(/^height /);
  });

  test('keeps what is typed, and where, while the URL follows', async () => {
    const { page } = await browser.open('/market/pBTC_PRV?pay=12', { gateway: shared() });
    const swap = await scrollTo(page, 'Swap');
    const pay = swap.getByLabel('You pay');
    await pay.press('Home');
    await pay.press('ArrowRight');
    await pay.pressSequentially('3');
    await expect.poll(() => parametersOf(page)).toEqual({ from: 'token1', pay: '132' });
    await pay.pressSequentially('4');
    await expect.poll(() => parametersOf(page)).toEqual({ from: 'token1', pay: '1342' });

    await swap.getByRole('button', { name: 'Swap in the other direction: pay BTC, receive PRV' }).click();
    await expect.poll(() => parametersOf(page)).toEqual({ from: 'token2', receive: '1342' });
    expect(await swap.getByLabel('You receive').inputValue()).toBe('1342');
  });

  test('is live without a history, and sends no query for a new price', async () => {
    const opened = await browser.open('/market/pBTC_PRV');
    const { page } = opened;
    const market = panel(page, 'Market');
    await market.getByText(/^height/).waitFor();
    await market.getByText('No history is recorded for this pool.').waitFor();
    const queries: string[] = [];
    page.on('request', (request) => {
      if (request.postData()?.includes('"operationName":"Market"')) queries.push(request.url());
    });
    // What the page requests when it is opened can be on its way yet, and be repeated. A query for one block would be seen at the latest
    // while the next one is waited for.
    const queriesOfBlocks = async () => {
      queries.length = 0;
      for (let block = 0; block < 3; block++) {
        const height = await advanceOnPage(opened);
        await market.getByText(`height ${formatInteger(height)}`).waitFor();
      }
      return queries;
    };
    await expect.poll(queriesOfBlocks).toEqual([]);
  });

  test('says what is missing: history, a pool, decimals, the market itself', async () => {
    const { page, gateway } = await browser.open('/market/pETH_PRV', { gateway: shared() });
    const go = (path: string) => page.goto(new URL(path, gateway.url).href);
    await panel(page, 'Price').getByText('This gateway records no history').waitFor();
    await expectAccessible(page);

    await go('/market/pDAF_PRV');
    await panel(page, 'Price').getByText('There is no pool of these tokens').waitFor();
    await panel(page, 'Order book')
      .getByRole('table')
      .or(panel(page, 'Order book').getByText('empty'))
      .first()
      .waitFor();

    const unknown = gateway.sandbox.chain.pools.find(
      ({ token1, token2 }) => token1.symbol === undefined || token2.symbol === undefined,
    );
    await go(`/pool/${unknown?.token1.id}-${unknown?.token2.id}?pay=1.5`);
    await page.getByText('No price: the decimals of a token are not known.').waitFor();
    await screenshot(page, 'market-unknown-decimals');

    await go('/market/pNOPE_PRV');
    await page.getByRole('heading', { level: 1, name: 'Market not found' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Search for NOPE' }).getAttribute('href')).toContain('NOPE');
    await expectAccessible(page);
    await go('/pool/no-pool');
    await page.getByRole('heading', { level: 1, name: 'Pool not found' }).waitFor();
    await page.getByRole('link', { name: 'See all markets' }).click();
    await page.getByRole('heading', { level: 1, name: 'Markets' }).waitFor();
  });

  test('lets a reader choose where a ticker id is that of several pools', async () => {
    const { page } = await browser.open('/market/pETH_pUSDT', { gateway: shared() });
    await page.getByText('Several markets have this ticker id').waitFor();
    const choices = page.locator('main li');
    await expect.poll(() => choices.count()).toBe(2);
    await expectAccessible(page);
    for (const choice of await choices.all())
      expect(await choice.textContent()).toMatch(/24 h volume [\d.,]+M?\u00a0ETH/);
    await choices.filter({ hasText: '2 pairs trade in it' }).getByRole('link', { name: 'ETH/USDT' }).click();
    await panel(page, 'Order book').getByText('3 markets have this ticker id and share the book.').waitFor();
    await page.goBack();
    await page.getByText('Several markets have this ticker id').waitFor();
  });

  test('has one name and direction for a pool of several pairs, and links to each', async () => {
    const { page, gateway } = await browser.open('/market/PRV_pUSDT?pay=10', { gateway: shared() });
    const { data } = await gateway.ask(
      '{ pairs(filter: { tickerIds: ["PRV_pUSDT"] }) { poolId baseId targetId ticker { lastPrice } } }',
    );
    const [first, second] = data.pairs;
    const heading = page.getByRole('heading', { level: 1, name: 'PRV / USDT' });
    await heading.waitFor();
    const links = page.getByText('3 pairs trade in this pool:').locator('..').getByRole('link');
    expect(await links.count()).toBe(3);
    await expect.poll(() => parametersOf(page)).toEqual({ pay: '10', pool: first.poolId });
    await screenshot(page, 'market-pairs');
    await links.nth(1).click();
    await panel(page, 'Market').getByText(formatPrice(second.ticker.lastPrice), { exact: true }).first().waitFor();
    expect(parametersOf(page)).toEqual({ pool: second.poolId });
    await expectAccessible(page);

    // The node calls the same pool by its tokens, in the other direction.
    await page.goto(new URL(`/pool/${first.baseId}-${first.targetId}?pay=5`, page.url()).href);
    await expect.poll(() => parametersOf(page)).toEqual({ pay: '5', pool: first.poolId });
    await heading.waitFor();
  });

  test('shows a period of choice, in a fitting interval, which the URL keeps', async () => {
    // Eleven hours of history.
    const { page } = await browser.open('/market/pBTC_PRV', { start: recorded({ history: 1_000 }) });
    const price = panel(page, 'Price');
    const period = (name: string) => price.getByRole('button', { name, exact: true });
    const isChosen = (name: string) => price.getByRole('tab', { name, exact: true, selected: true }).waitFor();
    await price.locator('canvas').first().waitFor();
    await isChosen('15 min');
    await period('1 W').click();
    // Fewer candles than the period has room for: the history is not as long.
    await isChosen('5 min');
    await expect.poll(() => parametersOf(page)).toEqual({ period: '1w' });
    expect(await period('1 W').getAttribute('aria-pressed')).toBe('true');
    expect(await period('1 D').getAttribute('aria-pressed')).toBe('false');
    await expect.poll(() => price.getByText(/^A chart of BTC\/PRV with 13\d candles of 5 minutes/).count()).toBe(1);
    await page.reload();
    await isChosen('5 min');
    await price.getByRole('tab', { name: '1 h', exact: true }).click();
    await expect.poll(() => parametersOf(page)).toEqual({ interval: '1h' });
    await period('All').click();
    await expect.poll(() => parametersOf(page)).toEqual({ period: 'all' });
    // Pressed again, it is off. The page shows that it is pressed a moment after the URL.
    await price.getByRole('button', { name: 'All', exact: true, pressed: true }).click();
    await expect.poll(() => parametersOf(page)).toEqual({});
    await isChosen('15 min');
    await expectAccessible(page);
  });

  test('has its live price in the title of its tab, from the moment that it shows one, also in the background', async () => {
    const opened = await browser.open('/market/pBTC_PRV', {
      initScript: recordTitles,
    });
    const { page, gateway } = opened;
    await panel(page, 'Market').locator('[translate=no]').first().waitFor();
    const titles = await page.evaluate(() => (globalThis as unknown as { titles: [string, string][] }).titles);
    expect(titles.length).toBeGreaterThan(0);
    for (const [price, title] of titles) expect(title).toBe(`${price} BTC/PRV · pdex-gateway`);
    const read = async () => (await gateway.ask('{ pair(tickerId: "pBTC_PRV") { poolPrice } }')).data.pair.poolPrice;
    const before = await read();
    await expect.poll(() => page.title()).toBe(`${formatPrice(before)} BTC/PRV · pdex-gateway`);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await advanceOnPage(opened, 20);
    const after = await read();
    expect(after).not.toBe(before);
    await expect.poll(() => page.title()).toBe(`${formatPrice(after)} BTC/PRV · pdex-gateway`);
    await page.getByRole('link', { name: 'Tokens' }).click();
    await expect.poll(() => page.title()).toBe('Tokens · pdex-gateway');
  });

  test('without the market-data host, shows the pool instead', async () => {
    const { page } = await browser.open('/market/pBTC_PRV', {
      start: { without: 'MARKET_DATA', sandbox: { pools: 600 } },
    });
    await page.getByText('No market-data host is configured').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Pool BTC/PRV' }).click();
    await page.getByRole('heading', { level: 1, name: 'BTC / PRV' }).waitFor();
    await (await scrollTo(page, 'Depth')).getByText(/can be bought for/).waitFor();
    await panel(page, 'Swap').getByRole('textbox').first().fill('10');
    await panel(page, 'Swap').getByText('Price impact').waitFor();
    expect(await panel(page, 'Order book').count()).toBe(0);
    await screenshot(page, 'market-pool');
  });

  test('without the node, shows the market and its book', async () => {
    const { page } = await browser.open('/market/pBTC_PRV', { start: { without: 'NODE' } });
    await panel(page, 'Order book').getByRole('table').waitFor();
    for (const name of ['Price', 'Depth', 'Divergence']) {
      await (await scrollTo(page, name)).getByText('No node is configured').first().waitFor();
    }
    await panel(page, 'Market').getByText('Price of the last trade').waitFor();
    await expectAccessible(page);
    await screenshot(page, 'market-without-node');
  });

  test('is right again after the gateway was away', async () => {
    const opened = await browser.open('/market/pBTC_PRV?pay=100', { allowed: [/./] });
    const { page, gateway } = opened;
    const swap = await scrollTo(page, 'Swap');
    await swap.getByText('Price impact').waitFor();
    await gateway.app.close();
    await swap.getByText('This quote is old: the gateway cannot be reached.').waitFor();
    await panel(page, 'Order book').getByText('This book is old: the gateway cannot be reached.').waitFor();
    expect(await page.title()).toMatch(/^\(old\) [\d,.]+ BTC\/PRV/);
    const next = await gateway.replace(9);
    const { data } = await next.ask('{ pair(tickerId: "pBTC_PRV") { poolPrice } }');
    // The pause before a new attempt is random, and longer after each one that failed.
    const timeout = 100_000;
    const price = panel(page, 'Market').getByText(formatPrice(data.pair.poolPrice), { exact: true });
    await price.first().waitFor({ timeout });
    await scrollTo(page, 'Swap');
    const quotedAt = swap.getByText(`height ${next.sandbox.chain.tip.height.toLocaleString('en-US')}`);
    await quotedAt.first().waitFor({ timeout });
  });
});
