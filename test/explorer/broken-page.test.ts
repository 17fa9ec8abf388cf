import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible, screenshot } from '../support/explorer.ts';

describeInBrowser('a page of the explorer that is broken', (browser) => {
  test('says so and can be tried again, and the other pages work', async () => {
    const { page } = await browser.open('/chain', {
      allowed: [/this page is broken/],
      before: (opened) =>
        opened.route(/\/assets\/chain-page-.*\.js$/, (route) =>
          route.fulfill({
            contentType: 'text/javascript',
            body: `export function ChainPage() {
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
    await page.evaluate('globalThis.isMended = true');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('mended').waitFor();
  });
});
