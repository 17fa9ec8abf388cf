import { expect, test } from 'vitest';
import {
  describeInBrowser,
  expectAccessible,
  OWN_CLOCK,
  screenshot,
  showStatus,
  untilHeight,
} from '../support/explorer.ts';

describeInBrowser('a page of the explorer that is broken', (browser) => {
  test('says so and starts again by itself, without taking the focus, and the other pages work', async () => {
    const { page } = await browser.open('/chain', {
      allowed: [/this page is broken/, /“mended”/],
      before: (opened) =>
        opened.route(/\/assets\/chain-page-.*\.js$/, (route) =>
          route.fulfill({
            contentType: 'text/javascript',
            body: `export function ChainPage() {
              globalThis.attempts = (globalThis.attempts ?? 0) + 1;
              if (!globalThis.isMended) throw new Error('this page is broken');
              return 'mended';
            }`,
          }),
        ),
    });
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('This page is broken');
    await expect.poll(() => page.title()).toBe('This page is broken · pdex-gateway');
    await expectAccessible(page);
    await screenshot(page, 'broken-page');

    await page.getByRole('link', { name: 'Status', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Status' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'This page is broken' }).waitFor();
    // Its heading takes the focus a moment after it is shown.
    await page.locator('h1:focus').waitFor();
    // The page that is shown while the broken one is tried again does not take the focus from elsewhere.
    await page.getByTitle('Dark').focus();
    const attempts = () => page.evaluate<number>('globalThis.attempts');
    const before = await attempts();
    await expect.poll(attempts).toBeGreaterThan(before + 2);
    expect(await page.locator('h1:focus').count()).toBe(0);
    await page.evaluate('globalThis.isMended = true');
    await page.getByText('mended').waitFor();
  });

  test('does not take the others with it when the frame around the pages is broken', async () => {
    const opened = await browser.open('/', { ...OWN_CLOCK, allowed: [/not a child of this node/] });
    const { page, gateway } = opened;
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
    // An extension has put an element of the banner elsewhere. It is to be removed when the page has begun again.
    gateway.sandbox.marketData.faults.set({ kind: 'reset' });
    await showStatus(opened, 'MARKET_DATA', 'fails');
    const notice = page.locator('[data-notice="MARKET_DATA-stale"]');
    await notice.evaluate((element) => document.body.append(element));
    gateway.sandbox.node.faults.set({ kind: 'reset' });
    await showStatus(opened, 'NODE', 'fails');
    await page.locator('[role=status] [data-notice="MARKET_DATA-stale"]').waitFor();
    expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
  });
});
