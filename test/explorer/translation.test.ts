import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatInteger, formatPrice } from '../../explorer/src/format/numbers.ts';
import { advanceOnPage, describeInBrowser, OWN_CLOCK, panel, screenshot, showStatus } from '../support/explorer.ts';

/**
 * Does to the texts of a page what Google Translate does, for as long as the page lives: each is replaced by a `<font>` in a `<font>`
 * with the new text, also each text that comes later. Texts in elements with `translate="no"` are replaced too: some extensions do not
 * know it.
 */
async function translate(page: Page): Promise<void> {
  await page.evaluate(() => {
    const rewrite = (root: Node) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      const texts = root instanceof Text ? [root] : [];
      while (walker.nextNode()) texts.push(walker.currentNode as Text);
      for (const text of texts) {
        if (text.data.trim() === '' || !text.isConnected || text.parentElement?.closest('font, script, style'))
          continue;
        const [outer, inner] = [document.createElement('font'), document.createElement('font')];
        inner.textContent = text.data;
        outer.append(inner);
        text.replaceWith(outer);
      }
    };
    rewrite(document.body);
    new MutationObserver((records) => {
      for (const { type, target, addedNodes } of records) {
        if (type === 'characterData') rewrite(target);
        for (const node of addedNodes) rewrite(node);
      }
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
}

describeInBrowser('the explorer in a browser that rewrites its texts', (browser) => {
  test('stays live on every page', async () => {
    const opened = await browser.open('/market/pBTC_PRV?pay=100', OWN_CLOCK);
    const { page, gateway } = opened;
    // What is far below the screen is not live.
    await page.setViewportSize({ width: 1440, height: 2_400 });
    await panel(page, 'Order book').getByRole('row').nth(20).waitFor();
    await panel(page, 'Swap').getByText('Price impact').waitFor();
    await translate(page);
    expect(await page.locator('font font').count()).toBeGreaterThan(20);

    const expectLive = async () => {
      const height = await advanceOnPage(opened, 5);
      const { data } = await gateway.ask('{ pair(tickerId: "pBTC_PRV") { poolPrice } }');
      const price = formatPrice(data.pair.poolPrice);
      await panel(page, 'Market').getByText(price, { exact: true }).first().waitFor();
      for (const name of ['Market', 'Depth', 'Swap'])
        await panel(page, name)
          .getByText(`height ${formatInteger(height)}`)
          .first()
          .waitFor();
      await page
        .locator('footer')
        .getByText(`height ${formatInteger(height)}`)
        .waitFor();
      return price;
    };
    expect(await expectLive()).not.toBe(await expectLive());
    await screenshot(page, 'translated');

    // What comes and goes beside other texts.
    gateway.sandbox.node.faults.set({ kind: 'reset' });
    await showStatus(opened, 'NODE', 'fails');
    await page.getByText('Chain data is stale').waitFor();
    gateway.sandbox.node.faults.clear();
    await showStatus(opened, 'NODE', 'responds');
    await page.getByText('Chain data is stale').waitFor({ state: 'detached' });
    await expectLive();
    await page.getByLabel('You pay').fill('7');
    await page.getByLabel('You pay').fill('x');
    await page.getByRole('alert').waitFor();
    await page.getByRole('tab', { name: 'Table' }).click();

    for (const name of ['Chain', 'Tokens', 'Status', 'Markets']) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      const height = await advanceOnPage(opened);
      await page
        .locator('main')
        .getByText(`height ${formatInteger(height)}`)
        .first()
        .waitFor();
    }
    await page.getByRole('searchbox').fill('btc');
    await page.getByText(/^\d+ of \d+ markets$/).waitFor();
    await page.getByRole('tab', { name: 'All pools' }).click();
    await page.getByRole('searchbox').fill('no such pool');
    await page.getByText('No pool matches').waitFor();
    await page.getByRole('button', { name: 'Clear the search' }).click();
    await page.getByRole('rowheader').first().waitFor();
    await page.goBack();
    await advanceOnPage(opened);
  });
});
