import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createStoreModel } from '../history/store-model.ts';
import { describeInBrowser, expectAccessible, screenshot, VIEWPORTS } from '../support/explorer.ts';
import { BTC } from '../support/tokens.ts';

/** Waits until the search is gone. It is hidden before: until then, the key does nothing. */
function untilGone(page: Page): Promise<void> {
  return expect.poll(() => page.locator('dialog').count()).toBe(0);
}

/** Opens the search with a key, and waits until what is typed goes into it. */
async function openWith(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key);
  await page.locator('dialog input:focus').waitFor();
}

describeInBrowser('the search for everything', (browser) => {
  const shared = browser.share(() => ({ store: createStoreModel() }));

  test('opens with a key on each page, is used with the keyboard, and goes where the result is', async () => {
    const { page, gateway } = await browser.open('/chain', { gateway: shared() });
    const dialog = page.getByRole('dialog', { name: 'Search' });
    const results = dialog.getByRole('link');
    const pathOf = () => new URL(page.url()).pathname;
    // The file of the search is loaded when it is first opened.
    await page.getByRole('button', { name: 'Search' }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await untilGone(page);
    for (const path of ['/chain', '/status', '/market/pBTC_PRV', '/chain/blocks/1640000']) {
      if (pathOf() !== path) await page.goto(new URL(path, page.url()).href);
      await page.locator('h1').waitFor();
      await page.keyboard.press('/');
      await dialog.getByText('For example BTC-PRV').waitFor();
      await page.keyboard.press('Escape');
      await untilGone(page);
    }
    await openWith(page, '/');
    await page.keyboard.type('pETH_prv');
    await dialog.getByText('1 found').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'ETH / PRV' }).waitFor();
    await untilGone(page);

    await openWith(page, 'Control+k');
    await page.keyboard.type('Bitcoin');
    await results.filter({ hasText: 'BTC/PRV' }).waitFor();
    const names = await results.allTextContents();
    expect(names.length).toBeGreaterThan(3);
    await expectAccessible(page);
    await screenshot(page, 'search-wide', { fullPage: false });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe(names[1]);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(BTC);
    await results.filter({ hasText: 'Token' }).click();
    await page.getByText(/^1 of \d+ tokens$/).waitFor();

    // A page with a search of its own has the key for that one.
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('/');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toBe('Search tokens');
    await openWith(page, 'Control+k');
    await page.keyboard.type('1,639,990');
    await dialog.getByText('1 found').waitFor();
    await page.keyboard.press('Enter');
    // The page before is shown until the file of this one is there, and has a search of its own.
    await page.getByRole('heading', { level: 1, name: 'Block 1,639,990' }).waitFor();
    expect(pathOf()).toBe('/chain/blocks/1639990');
    await untilGone(page);

    const { data } = await gateway.ask('{ history { blocks(last: 1) { hash } } bestBlock { hash } }');
    await openWith(page, '/');
    await page.keyboard.type(data.bestBlock.hash);
    await results.filter({ hasText: 'Block' }).click();
    await expect.poll(pathOf).toBe('/chain/blocks/1640000');
    await untilGone(page);
    await openWith(page, '/');
    await page.keyboard.type('9999999');
    await dialog.getByText('Nothing found. The newest block is 1,640,000.').waitFor();
  });

  test('stays open when a selection ends beside it, and while an input method composes', async () => {
    const { page } = await browser.open('/status', { gateway: shared() });
    await page.getByRole('button', { name: 'Search' }).click();
    const dialog = page.getByRole('dialog', { name: 'Search' });
    const input = dialog.getByRole('searchbox');
    await input.fill('usdt');
    await dialog.getByRole('link').first().waitFor();
    const isOpen = await input.evaluate((element) => {
      element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, isComposing: true }));
      return element.closest('dialog')?.open;
    });
    expect(isOpen).toBe(true);

    await input.hover();
    await page.mouse.down();
    await page.mouse.move(5, 5);
    await page.mouse.up();
    expect(await dialog.isVisible()).toBe(true);
    await page.mouse.click(5, 5);
    await untilGone(page);
    await page.getByRole('heading', { level: 1, name: 'Status' }).waitFor();
  });

  test('closes when the browser goes back', async () => {
    const { page } = await browser.open('/status', { gateway: shared() });
    await page.getByRole('link', { name: 'Chain', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Chain' }).waitFor();
    await openWith(page, '/');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Status' }).waitFor();
    await untilGone(page);
  });

  test('is a button on a phone', async () => {
    const { page } = await browser.open('/status', { gateway: shared(), viewport: 'phone', colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Search' }).click();
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await dialog.getByRole('searchbox').fill('usdt');
    await dialog.getByRole('link').first().waitFor();
    await expectAccessible(page);
    await screenshot(page, 'search-phone', { fullPage: false });
    const { x = -1, width = 0 } = (await dialog.boundingBox()) ?? {};
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(VIEWPORTS.phone.width);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await untilGone(page);
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Search');
  });
});
