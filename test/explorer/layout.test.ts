import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { advanceOnPage, describeInBrowser, holdAnswers, screenshot, scrollToEnd } from '../support/explorer.ts';
import { readLayoutShift, recordShifts } from '../support/layout-shifts.ts';
import { recorded } from './recorded.ts';

const cell = (name: RegExp) => (page: Page) => page.getByRole('cell', { name }).first();
const candles = (page: Page) => page.getByRole('region', { name: 'Price', exact: true }).locator('canvas').first();
const row = (page: Page) => page.getByRole('rowheader').first();
const text = (shown: string) => (page: Page) => page.getByText(shown).first();

/** Each page, and what it shows when everything is there. The lists are in `exchange-v3.test.ts`, where their rows say more. */
const PAGES = [
  ['/market/pPOWR_PRV?pay=100', candles],
  ['/market/pETH_pUSDT', text('Several markets have this ticker id')],
  ['/market/pNOPE_PRV', text('No market is called')],
  ['/chain', (page: Page) => page.locator('canvas').first()],
  ['/chain/blocks/1639990', text('have changed')],
  ['/tokens', cell(/^\d+$/)],
  ['/status', text('Points that an address can save up')],
  ['/nothing', text('Nothing is at /nothing')],
] as const;

const WIDTHS = {
  phone: { viewport: { width: 390, height: 844 }, context: { isMobile: true, hasTouch: true } },
  desktop: { viewport: { width: 1440, height: 900 }, context: {} },
} as const;

/** What moves less than this is not seen as a jump; above 0.1, a page "needs improvement" (https://web.dev/cls). */
const MAX_LAYOUT_SHIFT = 0.05;

/** The names of rows of which a part has no room, or is over the next column, and the figures that are as narrow as one character. */
function findCovered(): (string | null)[] {
  const covered = [...document.querySelectorAll('tbody th a')].filter(({ children, parentElement }) => {
    const end = parentElement?.closest('th')?.getBoundingClientRect().right ?? 0;
    return [...children].some((part) => part.clientWidth === 0 || part.getBoundingClientRect().right > end);
  });
  const narrow = [...document.querySelectorAll('dl > div')].filter(
    ({ clientWidth }) => clientWidth > 0 && clientWidth < 64,
  );
  return [...covered, ...narrow].map(({ textContent }) => textContent);
}

describeInBrowser('the layout of the pages', (browser) => {
  test.each(['phone', 'desktop'] as const)('does not jump on a %s, on load and while blocks arrive', async (name) => {
    const { viewport, context } = WIDTHS[name];
    const opened = await browser.open('/nothing', {
      start: recorded(),
      context,
      // The page that does not exist has status 404.
      allowed: [/404/],
      initScript: recordShifts,
      before: (page) => page.setViewportSize(viewport),
    });
    const { page, gateway } = opened;
    const jumps: unknown[] = [];
    for (const [path, last] of PAGES) {
      await page.goto(new URL(path, gateway.url).href);
      await last(page).waitFor();
      for (let height = 0; height < 2; height += 1) await advanceOnPage(opened);
      const { cls, shifts } = await readLayoutShift(page);
      if (cls > MAX_LAYOUT_SHIFT) jumps.push({ path, cls, shifts });
    }
    expect(jumps).toEqual([]);
  });

  test('has its banner before the gateway has sent its status, and a line that comes later moves nothing', async () => {
    const opened = await browser.open('/tokens', {
      start: { config: { orderBookTtlMs: 20 } },
      allowed: [/./],
      initScript: recordShifts,
      before: (page) => holdAnswers(page, 'Service'),
    });
    const { page, gateway } = opened;
    const notices = page.getByRole('status', { name: 'Notices' }).locator('p');
    expect(await notices.allTextContents()).toEqual([
      expect.stringMatching(/^No history\. /),
      expect.stringMatching(/^Sandbox\. /),
    ]);
    await cell(/^\d+$/)(page).waitFor();
    await gateway.app.close();
    await page.locator('[data-notice="reconnecting"]').waitFor();
    const { cls, shifts } = await readLayoutShift(page);
    expect(cls, JSON.stringify(shifts)).toBeLessThanOrEqual(0.001);
    await expect(page.getByRole('button', { name: 'Connect now' }).boundingBox()).resolves.toMatchObject({
      x: expect.any(Number),
    });
    await screenshot(page, 'late-banner');
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '400%';
    });
    const late = page.locator('[data-retry]');
    const { height = 0 } = (await late.boundingBox()) ?? {};
    expect(height).toBeLessThanOrEqual((page.viewportSize()?.height ?? 0) / 4 + 1);
    await expect(late.evaluate(({ tabIndex, scrollHeight }) => [tabIndex, scrollHeight])).resolves.toEqual([
      0,
      expect.toSatisfy((content: number) => content > height),
    ]);
  });

  test('is no wider than a phone with long names, and the headers of an order book do not overlap', async () => {
    const symbol = 'LONGSYMBOL'.repeat(7).slice(0, 68);
    const rename = async (route: Route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(/"symbol":"(USDT|BTC)"/g, `"symbol":"${symbol}"`);
      await route.fulfill({ response, body });
    };
    const { page, gateway } = await browser.open('/', {
      start: recorded({ exchange: 'v3' }),
      context: WIDTHS.phone.context,
      // The page that does not exist has status 404.
      allowed: [/404/],
      before: (page) =>
        Promise.all([
          page.setViewportSize(WIDTHS.phone.viewport),
          // A page that is left drops its requests.
          page.route('**/graphql', (route) => rename(route).catch(() => {})),
        ]),
    });
    const { data } = await gateway.ask('{ pairs(filter: { tickerIds: ["PRV_pUSDT"] }) { poolId } }');
    const tooWide: unknown[] = [];
    for (const [path, last] of [
      ['/', row],
      ['/?list=pools', row],
      [`/?search=${'a'.repeat(500)}`, text('No market matches')],
      ['/tokens', row],
      [`/pool/${data.pairs[0].poolId}?pay=100`, text('pools of ')],
      [`/pool/${data.pairs[0].poolId}?pay=100&view=table`, cell(/^\d+\.\d/)],
      [`/market/${'A'.repeat(500)}`, text('No market is called')],
      [`/${'a'.repeat(500)}`, text('Nothing is at')],
    ] as const) {
      await page.goto(new URL(path, gateway.url).href);
      await last(page).waitFor();
      await scrollToEnd(page);
      for (const fontSize of ['', '200%']) {
        const width = await page.evaluate((size) => {
          document.documentElement.style.fontSize = size;
          return document.documentElement.scrollWidth;
        }, fontSize);
        if (width > WIDTHS.phone.viewport.width) tooWide.push({ path, fontSize, width });
        tooWide.push(...(await page.evaluate(findCovered)));
      }
    }
    expect(tooWide).toEqual([]);

    await page.goto(new URL(`/pool/${data.pairs[0].poolId}`, gateway.url).href);
    const headers = page.getByRole('region', { name: 'Order book' }).getByRole('columnheader');
    await page.getByRole('link', { name: 'Show the query: Market' }).waitFor();
    await page.getByRole('region', { name: 'Order book' }).scrollIntoViewIfNeeded();
    await headers.first().waitFor();
    const others = page.getByRole('region', { name: 'Pool', exact: true }).getByRole('link', { name: /\(fee / });
    await others.first().waitFor();
    for (const link of await others.all()) expect((await link.boundingBox())?.height).toBeGreaterThanOrEqual(36);
    for (const { viewport } of Object.values(WIDTHS)) {
      await page.setViewportSize(viewport);
      const readHeaders = () =>
        headers.evaluateAll((all) =>
          all.map((header) => [
            header.getAttribute('title') === header.textContent,
            getComputedStyle(header).overflowX,
          ]),
        );
      expect(await readHeaders()).toEqual(Array(3).fill([true, 'hidden']));
    }
  });

  test('lets tables that are wider than a phone scroll, with the keyboard too, and shows that they do', async () => {
    const { page, gateway } = await browser.open('/chain', {
      start: recorded(),
      before: (page) => page.setViewportSize(WIDTHS.phone.viewport),
    });
    for (const [path, wide] of [
      ['/chain', ['Chains and their newest blocks']],
      ['/status', ['Upstreams and their state']],
      ['/market/pBTC_PRV?view=table', ['Candles as a table']],
      ['/tokens', []],
      ['/', []],
    ] as const) {
      await page.goto(new URL(path, gateway.url).href);
      await page.locator('tbody tr').first().waitFor();
      const readCut = () =>
        page.evaluate(() =>
          [...document.querySelectorAll('table')].flatMap((table) => {
            const parent = table.parentElement as HTMLElement;
            if (table.offsetWidth <= parent.clientWidth) return [];
            const isScrolled = parent.tabIndex === 0 && getComputedStyle(parent).overflowX === 'auto';
            const hasShadows = getComputedStyle(parent).backgroundImage.split('linear-gradient').length === 5;
            return [isScrolled && hasShadows ? parent.getAttribute('aria-label') : table.outerHTML];
          }),
        );
      await expect.poll(readCut).toEqual(wide);
    }
    await page.goto(new URL('/chain', gateway.url).href);
    const scroller = page.getByRole('region', { name: 'Chains and their newest blocks' });
    // A browser animates what a key does, and may drop it when it is busy.
    const scrollByKey = async () => {
      await scroller.press('ArrowRight');
      return scroller.evaluate(({ scrollLeft }) => scrollLeft);
    };
    await expect.poll(scrollByKey).toBeGreaterThan(0);
  });
});
