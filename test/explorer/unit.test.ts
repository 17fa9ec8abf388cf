import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatPrice, formatUsd, formatUsdPrice } from '../../explorer/src/format/numbers.ts';
import {
  advanceOnPage,
  denyStorage,
  describeInBrowser,
  expectAccessible,
  expectNotWider,
  screenshot,
} from '../support/explorer.ts';
import type { ServedGateway } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';
import { recorded } from './recorded.ts';

const UNIT = 'Unit of prices and amounts';

const choose = (page: Page, unit: 'PRV' | 'USD') =>
  page.getByRole('group', { name: UNIT }).getByText(unit, { exact: true }).click();
const chosen = (page: Page, unit: 'PRV' | 'USD') => page.getByRole('radio', { name: unit, exact: true }).isChecked();
const cellsOf = (page: Page, name: string) =>
  page
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name, exact: true }) })
    .first()
    .getByRole('cell');

/** What the market of BTC and PRV is worth. */
async function readMarket(gateway: ServedGateway) {
  const { data } = await gateway.ask(`{
    pair(tickerId: "pBTC_PRV") { poolPrice ticker { lastPrice targetVolume } poolPair { liquidityUsd } }
    prv: token(id: "${PRV}") { usdPrice }
    btc: token(id: "${BTC}") { usdPrice }
  }`);
  const { pair, prv, btc } = data;
  return {
    price: pair.poolPrice as number,
    inUsd: formatUsdPrice(pair.poolPrice * prv.usdPrice),
    lastTrade: formatUsdPrice(pair.ticker.lastPrice * prv.usdPrice),
    volume: formatUsd(pair.ticker.targetVolume * prv.usdPrice),
    liquidity: formatUsd(pair.poolPair.liquidityUsd),
    btcUsd: formatUsdPrice(btc.usdPrice),
  };
}

describeInBrowser('the unit of the explorer', (browser) => {
  const shared = browser.share();

  test('switches the list of markets to US dollars, live, with one request for all rows', async () => {
    const opened = await browser.open('/', {});
    const { page, gateway } = opened;
    const price = cellsOf(page, 'BTC / PRV').first();
    await expect.poll(() => price.textContent()).toBe(formatPrice((await readMarket(gateway)).price));
    // What the page requests again after a while is the same text. Other requests count no dollars.
    const requests = new Set<string>();
    page.on('request', (request) => {
      const body = request.postData() ?? '';
      if (body.includes('"withUsd":true')) requests.add(body);
    });

    await choose(page, 'USD');
    const { inUsd, liquidity } = await readMarket(gateway);
    await expect.poll(() => price.textContent()).toBe(inUsd);
    await expect.poll(() => cellsOf(page, 'BTC / PRV').last().textContent()).toBe(liquidity);
    await expect.poll(() => price.getAttribute('title')).toMatch(/^[\d,.]+ PRV per BTC$/);
    await expect
      .poll(() => page.getByRole('columnheader').allTextContents())
      .toEqual(['Market', 'Price, USD', '24 h volume, USD', 'Liquidity, USD']);
    expect([...requests]).toEqual([expect.stringContaining('"operationName":"RowsInView"')]);

    await advanceOnPage(opened, 20);
    const after = (await readMarket(gateway)).inUsd;
    expect(after).not.toBe(inUsd);
    await expect.poll(() => price.textContent()).toBe(after);
  });

  test('sorts the markets by what is shown', async () => {
    const { page } = await browser.open('/?sort=liquidity', { gateway: shared() });
    await choose(page, 'USD');
    await page.getByRole('columnheader', { name: 'Liquidity, USD' }).waitFor();
    const sorted = async () => {
      const texts = await page.locator('tbody tr > :last-child').allTextContents();
      const value = (text: string) =>
        Number(/\d[\d.]*/.exec(text)?.[0]) * (text.endsWith('M') ? 1e6 : text.endsWith('K') ? 1e3 : 1);
      return texts.filter((text) => text.startsWith('$')).map(value);
    };
    await expect.poll(async () => (await sorted()).length).toBeGreaterThan(5);
    const values = await sorted();
    expect(values).toEqual(values.toSorted((a, b) => b - a));
  });

  test('switches a market: its price, title, last trade, volume and liquidity; recorded prices name their token', async () => {
    const opened = await browser.open('/market/pBTC_PRV', {});
    const { page, gateway } = opened;
    const figures = page.getByRole('region', { name: 'Market', exact: true });
    await figures.getByText('PRV per BTC', { exact: true }).waitFor();
    await choose(page, 'USD');
    const text = (name: string) => figures.locator('dl > div', { hasText: name }).locator('dd').first().textContent();
    // The market-data host has new figures at any time, so both sides are read until they agree.
    const expectShown = () =>
      expect
        .poll(async () => {
          const { price, inUsd, lastTrade, volume, liquidity } = await readMarket(gateway);
          const shown = [
            await figures.getByText(`USD per BTC · ${formatPrice(price)} PRV`, { exact: true }).count(),
            await page.title(),
            await text('Last trade'),
            await text('24 h volume'),
            (await text('In the pool'))?.split(':')[0],
          ];
          return [shown, [1, `${inUsd} BTC/PRV · pdex-gateway`, lastTrade, volume, liquidity]];
        })
        .toSatisfy(([shown, expected]) => isDeepStrictEqual(shown, expected));
    await expectShown();
    await page.getByText('Other prices in PRV per BTC').waitFor();
    await advanceOnPage(opened, 5);
    await expectShown();
    await choose(page, 'PRV');
    await figures.getByText('PRV per BTC', { exact: true }).waitFor();
  });

  test('switches the tokens with the keyboard, and a reload keeps the choice, as do other pages', async () => {
    const { page, gateway } = await browser.open('/tokens', { gateway: shared() });
    const price = cellsOf(page, 'BTC').first();
    await price.waitFor();
    const { btcUsd } = await readMarket(gateway);
    await page.getByRole('radio', { name: 'PRV', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => price.textContent()).toBe(btcUsd);
    await page.getByRole('columnheader', { name: 'Price in USD' }).waitFor();
    await page.getByText('Prices are in US dollars').waitFor();
    await page.reload();
    await expect.poll(() => price.textContent()).toBe(btcUsd);
    await page.getByRole('link', { name: 'Markets', exact: true }).click();
    await page.getByRole('columnheader', { name: 'Liquidity, USD' }).waitFor();
  });

  test('is the same in all tabs, and is usual again when the storage is cleared', async () => {
    const { page } = await browser.open('/tokens', { gateway: shared() });
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.locator('h1').waitFor();
    await choose(page, 'USD');
    await expect.poll(() => chosen(other, 'USD')).toBe(true);
    await page.evaluate(() => localStorage.clear());
    await expect.poll(() => chosen(other, 'PRV')).toBe(true);
  });

  test('works in a browser that stores nothing', async () => {
    const { page } = await browser.open('/tokens', {
      gateway: shared(),
      initScript: denyStorage,
    });
    await choose(page, 'USD');
    await page.getByRole('columnheader', { name: 'Price in USD' }).waitFor();
    await page.getByTitle('Dark').click();
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
  });

  test('what no pools lead to a stable coin from is a dash that says why', async () => {
    const start = recorded();
    const { page, gateway } = await browser.open('/tokens', {
      start: { ...start, config: { ...start.config, usdTokens: [] } },
    });
    await choose(page, 'USD');
    const why = /^No price in US dollars: no pools lead from this token to a stable coin/;
    await expect.poll(() => cellsOf(page, 'BTC').first().textContent()).toBe('–');
    expect(await cellsOf(page, 'BTC').first().getAttribute('title')).toMatch(why);
    // A tooltip needs a mouse.
    const visibly = page.getByText('A dash: no pools lead to a stable coin, or too little is in them');
    await visibly.waitFor();

    await page.goto(new URL('/', gateway.url).href);
    await expect.poll(() => cellsOf(page, 'BTC / PRV').first().textContent()).toBe('–');
    expect(await cellsOf(page, 'BTC / PRV').first().getAttribute('title')).toMatch(why);
    await expect.poll(() => cellsOf(page, 'BTC / PRV').last().textContent()).toBe('–');
    expect(await cellsOf(page, 'BTC / PRV').last().getAttribute('title')).toMatch(/^Not known in US dollars/);
    await visibly.waitFor();

    await page.goto(new URL('/market/pBTC_PRV', gateway.url).href);
    const figures = page.getByRole('region', { name: 'Market', exact: true });
    await figures.getByText(`${why.source.slice(1)}, PRV.`, { exact: true }).waitFor();
    await figures.getByText(/^USD per BTC · [\d,.]+\sPRV$/).waitFor();
    await figures.getByText(/^Not known in US dollars/).waitFor();
    // The change is not one of 24 hours: this is said too.
    await figures.getByText('The recorded history begins').waitFor();
    await choose(page, 'PRV');
    const { data } = await gateway.ask('{ pair(tickerId: "pBTC_PRV") { poolPrice } }');
    await figures.getByText(formatPrice(data.pair.poolPrice), { exact: true }).first().waitFor();
  });

  test('fits into the header of a window of any width, also with controls for fingers', async () => {
    for (const context of [{}, { hasTouch: true, isMobile: true }]) {
      const { page } = await browser.open('/status', { gateway: shared(), context });
      for (const width of [360, 390, 480, 490, 640, 660, 768, 832, 840, 890, 900, 960]) {
        await page.setViewportSize({ width, height: 800 });
        const header = page.getByRole('banner');
        const fits = await header.evaluate((element) => [element.scrollWidth, element.getBoundingClientRect().height]);
        expect([width, fits[0], (fits[1] ?? 0) < 100]).toEqual([width, width, true]);
        const last = await page.getByTitle('Dark').boundingBox();
        expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual(width);
      }
    }
  });

  test.each([
    ['markets', '/'],
    ['tokens', '/tokens'],
    ['market', '/market/pBTC_PRV'],
  ])('is accessible, and fits on a phone and on a wide screen: %s', async (name, path) => {
    const { page } = await browser.open(path, { gateway: shared(), viewport: 'phone' });
    await choose(page, 'USD');
    await page
      .getByText(/^\$[\d,.]+/)
      .first()
      .waitFor();
    await expectNotWider(page, 'phone');
    await screenshot(page, `unit-${name}`, { fullPage: false });
    await expectNotWider(page, 'wide');
    await expectAccessible(page);
  });
});
