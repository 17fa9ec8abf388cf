import { expect, test } from 'vitest';
import { createStoreModel } from '../history/store-model.ts';
import { describeInBrowser, expectAccessible, OWN_CLOCK, screenshot, showStatus } from '../support/explorer.ts';

/** The pages, with something that each has read before its data was stale, and whether it shows more of that than its notices. */
const PAGES = [
  ['Markets', '/', '24 h volume, PRV', false],
  ['BTC / PRV', '/market/pBTC_PRV', 'Last trade', true],
  ['Chain', '/chain', '1,640,000', false],
  ['Tokens', '/tokens', 'PRV', false],
  ['Status', '/status', 'Entries of one page', true],
] as const;

const NODE =
  /^Chain data is stale\. The node cannot be read since [\w:, ]+: it cannot be reached\. Pools, swaps and the/;
const HOST =
  /^Market data is stale\. The market-data host cannot be read since [\w:, ]+: it responds with an error status/;

describeInBrowser('stale data', (browser) => {
  test('is shown on each page, which says what is stale, since when and why, until it is fresh again', async () => {
    const opened = await browser.open('/', { ...OWN_CLOCK, start: { store: createStoreModel() } });
    const { page, gateway } = opened;
    const { node, marketData } = gateway.sandbox;
    await page.getByRole('rowheader').first().waitFor();
    const stale = page.locator('[data-notice$="-stale"]');
    expect(await stale.count()).toBe(0);

    node.faults.set({ kind: 'reset' });
    marketData.faults.set({ kind: 'status', status: 500 });
    const notices = () => stale.allTextContents();
    for (const [name, path, content, showsMore] of PAGES) {
      await page.goto(new URL(path, gateway.url).href);
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await expect.poll(notices).toEqual([expect.stringMatching(NODE), expect.stringMatching(HOST)]);
      await page.getByRole('main').getByText(content, { exact: true }).first().waitFor();
      await screenshot(page, `stale-${name.replaceAll(' / ', '-')}`);
      if (name === 'BTC / PRV') await expect.poll(() => page.title()).toMatch(/^\(old\) [\d,.]+ BTC\/PRV/);
      if (showsMore) await expectAccessible(page);
    }
    const freshness = page.getByRole('region', { name: 'Freshness' });
    await expect
      .poll(() => freshness.getByRole('listitem').filter({ hasText: 'stale' }).allTextContents())
      .toEqual([
        expect.stringMatching(/^Chainstaleheight 1,640,000, .* read .*\. The node cannot be reached\.$/),
        expect.stringMatching(/^Market datastaleread .*\. The market-data host responds with an error status\.$/),
      ]);

    node.faults.clear();
    marketData.faults.clear();
    await showStatus(opened, 'NODE', 'responds');
    await showStatus(opened, 'MARKET_DATA', 'responds');
    await expect.poll(notices).toEqual([]);
    await expect.poll(() => freshness.getByText('fresh', { exact: true }).count()).toBe(2);
  });

  test('is said in the title of a tab in the background', async () => {
    const opened = await browser.open('/market/pBTC_PRV', OWN_CLOCK);
    const { page, gateway } = opened;
    await expect.poll(() => page.title()).toMatch(/^[\d,.]+ BTC\/PRV/);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    gateway.sandbox.node.faults.set({ kind: 'reset' });
    await showStatus(opened, 'NODE', 'fails');
    await expect.poll(() => page.title()).toMatch(/^\(old\) [\d,.]+ BTC\/PRV/);
  });
});
