import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatPercent, formatPrice } from '../../explorer/src/format/numbers.ts';
import {
  advanceOnPage,
  denyStorage,
  describeInBrowser,
  expectAccessible,
  expectToFit,
  holdAnswers,
  OWN_CLOCK,
  parametersOf,
  screenshot,
  scrollToEnd,
  VIEWPORTS,
} from '../support/explorer.ts';
import { XMR } from '../support/tokens.ts';
import { recorded } from './recorded.ts';

/** The row of a market by the beginning of its link. */
const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
const firstNames = async (page: Page, count: number) =>
  (await page.getByRole('rowheader').allTextContents()).slice(0, count);

describeInBrowser('the page of the markets', (browser) => {
  const shared = browser.share(recorded);

  test('lists the markets of the host, the most traded first, and follows the prices of those on the screen', async () => {
    const opened = await browser.open('/', { start: recorded() });
    const { page, gateway } = opened;
    const row = rowOf(page, 'BTC / PRV');
    await row.getByRole('cell', { name: /%$/ }).waitFor();
    const read = async () => {
      const { data } = await gateway.ask(
        '{ pairs { poolId poolPair { id } } pair(tickerId: "pBTC_PRV") { poolPrice change { percent } } }',
      );
      // Pairs that trade in one pool are one market.
      const pools = data.pairs.map((pair: { poolPair: unknown }) => JSON.stringify(pair.poolPair ?? pair));
      return { count: new Set(pools).size, ...data.pair };
    };
    const before = await read();
    await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(before.count + 1));
    await expect.poll(() => firstNames(page, 1)).toEqual(['BTC/PRV']);
    const shown = ({ poolPrice, change }: typeof before) => [formatPrice(poolPrice), formatPercent(change.percent)];
    const cells = async () => (await row.getByRole('cell').allTextContents()).slice(0, 2);
    await expect.poll(cells).toEqual(shown(before));
    await expect.poll(() => row.locator('td svg path').count()).toBe(1);

    await advanceOnPage(opened, 20);
    const after = await read();
    expect(after.poolPrice).not.toBe(before.poolPrice);
    await expect.poll(cells).toEqual(shown(after));
  });

  test('is full of skeletons until the first list is there, and nothing moves when it comes', async () => {
    let release = () => {};
    const { page } = await browser.open('/', {
      gateway: shared(),
      before: async (loading) => {
        release = await holdAnswers(loading, 'Markets');
      },
    });
    const panel = page.getByRole('region', { name: 'Markets' });
    await panel.getByText('Loading…').waitFor({ state: 'attached' });
    // The banner is there.
    await page.getByText('No price is real').waitFor();
    expect(await panel.getAttribute('aria-busy')).toBe('true');
    expect(await page.getByRole('table').count()).toBe(0);
    await expectAccessible(page);
    await screenshot(page, 'markets-loading', { fullPage: false });
    const boxes = async () => [await panel.boundingBox(), await page.getByRole('searchbox').boundingBox()];
    const [before, search] = await boxes();
    expect(before?.height).toBeGreaterThan(VIEWPORTS.wide.height / 2);

    release();
    await page.getByRole('rowheader').first().waitFor();
    await expect.poll(() => panel.getAttribute('aria-busy')).toBe('false');
    const [after, searchAfter] = await boxes();
    expect([after?.x, after?.y, after?.width, searchAfter]).toEqual([before?.x, before?.y, before?.width, search]);
  });

  test('has a change when it is read, paler if its history has gaps, and a dash if nothing is recorded', async () => {
    let release = () => {};
    const { page } = await browser.open('/', {
      gateway: shared(),
      before: async (loading) => {
        release = await holdAnswers(loading, 'RowsInView');
      },
    });
    const change = rowOf(page, 'BTC / PRV').getByRole('cell').nth(1);
    await page.getByRole('columnheader', { name: '24 h chart' }).waitFor();
    expect(await change.textContent()).toBe('');
    const colour = (of: Locator) => of.evaluate((element) => getComputedStyle(element).color);
    const note = page.getByText('Paler changes: not all of the 24 h is recorded');
    expect(await note.count()).toBe(0);

    release();
    await expect.poll(() => change.textContent()).toMatch(/^[+-]\d+\.\d\d%$/);
    await note.waitFor();
    expect(await change.getAttribute('aria-describedby')).toBe(await note.getAttribute('id'));
    const paler = await colour(change);

    const replaceAndReload = async (pattern: RegExp, by: string) => {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.route('**/graphql', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replace(pattern, by) });
      });
      await page.reload();
    };
    await replaceAndReload(/"isComplete":false/g, '"isComplete":true');
    await expect.poll(() => change.textContent()).toMatch(/^[+-]\d+\.\d\d%$/);
    expect(await note.count()).toBe(0);
    expect(await colour(change)).not.toBe(paler);
    await replaceAndReload(/"change":\{[^}]*\}/g, '"change":null');
    await expect.poll(() => change.textContent()).toBe('–');
  });

  test('keeps a change and a chart that were read when the history can no longer be read', async () => {
    const start = recorded();
    const opened = await browser.open('/', { ...OWN_CLOCK, start });
    const { page, gateway } = opened;
    const cells = rowOf(page, 'BTC / PRV').getByRole('cell');
    const [change, chart] = [cells.nth(1), cells.nth(2).locator('svg')];
    await expect.poll(() => change.textContent()).toMatch(/^[+-]\d+\.\d\d%$/);
    await chart.waitFor();
    // The page gives up a websocket that is not open by the time to which the clock moves.
    await expect.poll(gateway.app.service.sources.head.subscribers).toBeGreaterThan(0);

    start.store.fail(new Error('The disk is full.'));
    const failed = page.waitForResponse(
      async (response) =>
        response.url().endsWith('/graphql') && (await response.text()).includes('HISTORY_UNAVAILABLE'),
    );
    await page.clock.fastForward(30_000);
    await failed;
    // Its prices go on.
    await advanceOnPage(opened);
    expect(await change.textContent()).toMatch(/^[+-]\d+\.\d\d%$/);
    expect(await chart.count()).toBe(1);
  });

  test('is searched and sorted by its URL, which a reload, a market and the history keep', async () => {
    const { page } = await browser.open('/', { gateway: shared() });
    await page.getByRole('rowheader').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('xmr');
    await page.getByText(/^3 of \d+ markets$/).waitFor();
    await page.getByRole('button', { name: 'Market', exact: true }).click();
    await page.locator('th[aria-sort=ascending]', { hasText: 'Market' }).waitFor();
    const names = ['XMR/BTC', 'XMR/PRV', 'XMR/USDT'];
    await expect.poll(() => firstNames(page, 5)).toEqual(names);
    await expect.poll(() => parametersOf(page)).toEqual({ search: 'xmr', sort: 'name' });
    await page.getByRole('button', { name: 'Market', exact: true }).click();
    await expect.poll(() => parametersOf(page)).toEqual({ search: 'xmr', sort: 'name', direction: 'descending' });
    await page.reload();
    await expect.poll(() => firstNames(page, 5)).toEqual(names.toReversed());
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('xmr');

    await rowOf(page, 'XMR / BTC').click();
    await page.getByRole('heading', { level: 1, name: 'XMR / BTC' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/market/pXMR_pBTC');
    await page.goBack();
    await expect.poll(() => firstNames(page, 5)).toEqual(names.toReversed());

    await page.getByRole('searchbox').fill(XMR);
    await page.getByText(/^3 of \d+ markets$/).waitFor();
    await page.getByRole('searchbox').fill('no such market');
    await page.getByText('No market matches').waitFor();
    await page.getByRole('button', { name: 'Clear the search' }).click();
    await page.getByText(/^\d+ markets$/).waitFor();
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('');
    await expect.poll(() => parametersOf(page)['search']).toBeUndefined();

    await page.getByRole('button', { name: '24 h', exact: true }).click();
    const changes = async () => {
      const cells = await page.locator('tbody td:nth-of-type(2)').allTextContents();
      return cells.slice(0, 8).map((text) => Number.parseFloat(text));
    };
    const isSorted = async () => (await changes()).every((change, i, all) => i === 0 || change <= (all[i - 1] ?? 0));
    await expect.poll(isSorted).toBe(true);
  });

  test('lists pairs that trade in one pool once, with one name in both lists, and the pools without a market too', async () => {
    const { page, gateway } = await browser.open('/?search=prv%2Fusdt', { gateway: shared() });
    const row = page.getByRole('row').filter({ has: page.getByText('3 pairs', { exact: true }) });
    await row.waitFor();
    await page.getByText(/^1 of \d+ markets$/).waitFor();
    const pathOf = async () => {
      const { pathname, search } = new URL(
        await row.getByRole('link').evaluate((link) => (link as HTMLAnchorElement).href),
      );
      return pathname + search;
    };
    const { data } = await gateway.ask('{ pairs(filter: { tickerIds: ["PRV_pUSDT"] }) { poolId } }');
    const path = `/market/PRV_pUSDT?pool=${data.pairs[0].poolId}`;
    expect(await pathOf()).toBe(path);
    const cells = () => row.getByRole('cell').allTextContents();
    // The change is read after the list.
    await row.getByRole('cell', { name: /%$/ }).waitFor();
    const market = await cells();
    await page.getByRole('tab', { name: 'All pools' }).click();
    await page.getByText(/^1 of \d+ pools$/).waitFor();
    expect([await pathOf(), await cells()]).toEqual([path, market]);
    await page.getByRole('tab', { name: 'Markets' }).click();

    await page.getByRole('searchbox').fill('');
    await page.getByRole('tab', { name: 'All pools' }).click();
    await expect.poll(() => parametersOf(page)).toEqual({ list: 'pools' });
    await page.locator('th[aria-sort=descending]', { hasText: 'Liquidity' }).waitFor();
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    const alone = page.getByRole('rowheader').locator('a[href^="/pool/"]').last();
    await alone.click();
    await page.waitForURL(/\/pool\/[0-9a-f]{64}-[0-9a-f]{64}$/);
    await page.goBack();
    await page.getByRole('tab', { name: 'All pools', selected: true }).waitFor();
  });

  test('keeps favourites in the browser, in all of its tabs', async () => {
    const { page } = await browser.open('/', { gateway: shared() });
    const star = page.getByRole('button', { name: 'Favourite: PRV/USDT', exact: true });
    await page.getByRole('tab', { name: 'Favourites' }).click();
    await page.getByText('There are no favourites yet').waitFor();
    await page.getByRole('tab', { name: 'Markets' }).click();
    expect(await star.getAttribute('aria-pressed')).toBe('false');
    await star.press('Enter');
    await expect.poll(() => star.getAttribute('aria-pressed')).toBe('true');
    expect(new URL(page.url()).pathname).toBe('/');

    const other = await page.context().newPage();
    await other.goto(new URL('/?list=favourites', page.url()).href);
    await other.getByText('1 favourite', { exact: true }).waitFor();
    await other.getByRole('link', { name: 'PRV / USDT' }).click();
    const ofMarket = other.getByRole('button', { name: 'Favourite: PRV/USDT' });
    await expect.poll(() => ofMarket.getAttribute('aria-pressed')).toBe('true');
    // Of several pairs of one pool, each has the mark.
    await other.getByText('3 pairs trade in this pool:').locator('..').getByRole('link').nth(2).click();
    await expect.poll(() => ofMarket.getAttribute('aria-pressed')).toBe('true');
    await ofMarket.click();
    await expect.poll(() => star.getAttribute('aria-pressed')).toBe('false');
  });

  test('keeps favourites for as long as it is open where nothing can be stored', async () => {
    const { page } = await browser.open('/', { gateway: shared(), initScript: denyStorage });
    const star = page.getByRole('button', { name: 'Favourite: BTC/PRV', exact: true });
    await star.click();
    await page.getByRole('button', { name: 'Favourite: ETH/PRV', exact: true }).click();
    await page.getByRole('tab', { name: 'Favourites' }).click();
    await page.getByText('2 favourites').waitFor();
    await expectAccessible(page);
    await screenshot(page, 'favourites', { fullPage: false });
    await star.press('Enter');
    await page.getByText('1 favourite', { exact: true }).waitFor();
    // A star that goes away with its row leaves the focus to its panel.
    await page.locator('h2:focus', { hasText: 'Favourites' }).waitFor();
  });

  test('moves no row under a press: the click opens the market that was pressed', async () => {
    const { page } = await browser.open('/', { gateway: shared() });
    const star = (of: Page, name: string) => of.getByRole('button', { name: `Favourite: ${name}`, exact: true });
    await star(page, 'BTC/PRV').click();
    await star(page, 'ETH/PRV').click();
    await page.getByRole('tab', { name: 'Favourites' }).click();
    await page.getByText('2 favourites').waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await star(other, 'BTC/PRV').waitFor();

    const row = rowOf(page, 'BTC / PRV');
    await row.getByRole('link').hover();
    await page.mouse.down();
    await star(other, 'BTC/PRV').click();
    await page.getByText('1 favourite', { exact: true }).waitFor();
    expect(await row.count()).toBe(1);
    await page.mouse.up();
    await page.getByRole('heading', { level: 1, name: 'BTC / PRV' }).waitFor();
    await page.goBack();
    await rowOf(page, 'ETH / PRV').waitFor();
    expect(await row.count()).toBe(0);
  });

  test('shows volume or liquidity on a phone, and is sorted there by each column', async () => {
    const { page } = await browser.open('/', { gateway: shared(), viewport: 'phone' });
    const headers = () => page.getByRole('columnheader').evaluateAll((all) => all.map((each) => each.textContent));
    await expect.poll(headers).toEqual(['Market', 'Price', '24 h', '24 h volume, PRV']);
    const sort = page.getByLabel('Sort by');
    expect(await sort.inputValue()).toBe('volume');
    await sort.selectOption('Liquidity');
    await expect.poll(headers).toEqual(['Market', 'Price', '24 h', 'Liquidity, PRV']);
    await expect.poll(() => parametersOf(page)).toEqual({ sort: 'liquidity' });
    await page.getByRole('button', { name: 'Descending: sort in the other direction' }).click();
    await expect.poll(() => parametersOf(page)).toEqual({ sort: 'liquidity', direction: 'ascending' });
    for (const [name, value] of [
      ['Name', 'name'],
      ['Price', 'price'],
      ['24 h change', 'change'],
    ] as const) {
      await sort.selectOption(name);
      await expect.poll(() => parametersOf(page)).toEqual({ sort: value });
      await expect.poll(headers).toEqual(['Market', 'Price', '24 h', '24 h volume, PRV']);
    }
    await page.getByRole('tab', { name: 'All pools' }).click();
    await sort.selectOption('Liquidity');
    await expect.poll(headers).toEqual(['Pool', 'Price', '24 h', 'Liquidity, PRV']);
    await expectAccessible(page);
  });

  test('keeps its controls and headers in their places on phones, in both units', async () => {
    const { page } = await browser.open('/', { gateway: shared(), context: { hasTouch: true, isMobile: true } });
    const panel = page.getByRole('region', { name: 'Markets' });
    const boxOf = async (locator: Locator) => {
      const { x = 0, y = 0, width = 0, height = 0 } = (await locator.boundingBox()) ?? {};
      return { left: x, top: y, right: x + width, bottom: y + height };
    };
    // On the narrowest one: wider ones have more room.
    const width = 320;
    await page.setViewportSize({ width, height: 844 });
    for (const path of ['/', '/?sort=liquidity&unit=USD']) {
      await page.goto(new URL(path, page.url()).href);
      await page.getByRole('rowheader').first().waitFor();
      const all = await boxOf(panel);
      const link = await boxOf(panel.getByRole('link', { name: 'Show the query: Markets' }));
      const title = await boxOf(panel.getByRole('heading', { name: 'Markets' }));
      expect(all.right - link.right, 'the link is at the right').toBeLessThan(24);
      expect((link.top + link.bottom) / 2, 'beside the title').toBeCloseTo((title.top + title.bottom) / 2, -0.5);
      expect((await boxOf(panel.getByRole('tablist'))).top).toBeGreaterThanOrEqual(link.bottom);
      expect((await boxOf(panel.getByRole('status'))).bottom, 'the count has one line').toBeLessThan(
        (await boxOf(panel.getByRole('status'))).top + 24,
      );
      const select = await boxOf(panel.getByLabel('Sort by'));
      const headers = panel.getByRole('columnheader');
      for (const header of await headers.all()) {
        const content = await boxOf(header.locator('button, span').first());
        const cell = await boxOf(header);
        expect([content.top >= cell.top, content.bottom <= cell.bottom, cell.top >= select.bottom]).toEqual([
          true,
          true,
          true,
        ]);
        expect(await header.evaluate((th) => th.scrollWidth <= th.clientWidth), `${width}`).toBe(true);
      }
      // All controls of the page are in one line.
      const search = await boxOf(page.getByRole('button', { name: /^Search/ }));
      expect((await boxOf(page.getByTitle('Dark'))).top).toBeLessThan(search.bottom);
    }
  });

  test('tells markets of one name apart by the whole short id of their pool', async () => {
    const { page } = await browser.open('/?search=eth/usdt', { gateway: shared() });
    const notes = page
      .getByRole('link')
      .locator('[title]')
      .filter({ hasText: /^pool / });
    for (const [width, text] of [
      [1440, /^pool \w{3}…\w{3} · 2 pairs$/],
      [390, /^pool \w{3}…\w{3}$/],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      const note = notes.first();
      // biome-ignore lint/performance/useDomNodeTextContent: only the text that is shown
      await expect.poll(() => note.innerText()).toMatch(text);
      expect(await note.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);
    }
  });

  test('without market data, lists the pools; without a history, no changes', async () => {
    const { page } = await browser.open('/', { start: { without: 'MARKET_DATA' } });
    await page.getByRole('tab', { name: 'All pools', selected: true }).waitFor();
    await page.getByRole('rowheader').first().waitFor();
    await expect
      .poll(() => page.getByRole('columnheader').allTextContents())
      .toEqual(['Pool', 'Price', '24 h volume, PRV', 'Liquidity, PRV']);
    await page.getByText('The 24 h change and chart need recorded prices').waitFor();
    await page.goto(new URL('/?sort=change&direction=ascending', page.url()).href);
    await page.locator('th[aria-sort=descending]', { hasText: 'Liquidity' }).waitFor();
    const count = page.getByRole('region', { name: 'Pools' }).getByRole('status');
    await expect.poll(() => count.textContent()).toMatch(/^\d+ pools$/);
    expect(await page.getByLabel('Sort by').locator('option').allTextContents()).toEqual([
      'Name',
      'Price',
      '24 h volume',
      'Liquidity',
    ]);
    // The search reads no changes either.
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.postData() ?? ''));
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search everything').fill('btc');
    await page.getByRole('dialog').getByRole('link').first().waitFor();
    expect(sent.filter((body) => body.includes('"withChange":true'))).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('tab', { name: 'Markets' }).click();
    await page.getByText('No market-data host is configured').waitFor();
    await expectAccessible(page);
  });

  test('without a node, lists the last prices', async () => {
    const { page, gateway } = await browser.open('/', { start: { without: 'NODE' } });
    const cell = rowOf(page, 'BTC / PRV').getByRole('cell').first();
    await cell.waitFor();
    const { data } = await gateway.ask('{ ticker(tickerId: "pBTC_PRV") { lastPrice } }');
    await expect.poll(() => cell.textContent()).toBe(formatPrice(data.ticker.lastPrice));
    await page.getByRole('tab', { name: 'All pools' }).click();
    await page.getByText('No node is configured').waitFor();
  });

  test('of a thousand pools has rows only near the screen, and comes back to where the reader was', async () => {
    const { page } = await browser.open('/?list=pools', { start: { sandbox: { pools: 1_000, history: 3 } } });
    await page.getByText('1,000 pools', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe('1001');
    expect(await page.getByRole('rowheader').count()).toBeLessThan(80);
    await scrollToEnd(page);
    await page.locator('[aria-rowindex="1001"]').waitFor();
    // At once: a browser may animate a turn of the wheel.
    await page.evaluate(() => scrollBy(0, -5_000));
    const scrolled = () => page.evaluate(() => Math.round(scrollY));
    await expect.poll(scrolled).toBeLessThan(36_000);
    // The header stays on the screen.
    const { y = -1 } = (await page.getByRole('columnheader').first().boundingBox()) ?? {};
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(100);
    const before = await scrolled();
    await page.locator('tbody tr').nth(20).getByRole('link').click();
    await page.waitForURL(/(market|pool)\//);
    await page.goBack();
    await page.getByRole('table').waitFor();
    await expect.poll(scrolled).toBe(before);
  });

  test('is accessible, and fits on a phone and on a wide screen, light and dark', async () => {
    const { page } = await browser.open('/', { gateway: shared(), viewport: 'phone' });
    await page
      .getByRole('cell', { name: /^[+-]?\d+\.\d\d%$/ })
      .first()
      .waitFor();
    await expectToFit(page, 'markets', { fullPage: false });
  });
});
