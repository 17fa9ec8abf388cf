import { expect, test } from 'vitest';
import { chainHeights } from '../history/of-chain.ts';
import { createStoreModel } from '../history/store-model.ts';
import { describeInBrowser, expectAccessible, expectToFit, OWN_CLOCK, showStatus } from '../support/explorer.ts';

describeInBrowser('the page of the status', (browser) => {
  const shared = browser.share(() => ({ store: createStoreModel() }));

  test('says that everything is fresh, what is recorded, and what is limited', async () => {
    const { page } = await browser.open('/status', { gateway: shared() });
    const freshness = page.getByRole('region', { name: 'Freshness' });
    await freshness.getByText('connected', { exact: true }).waitFor();
    await expect.poll(() => freshness.getByText('fresh', { exact: true }).count()).toBe(2);
    await freshness.getByText('recording', { exact: true }).waitFor();
    const upstreams = page.getByRole('region', { name: 'Upstreams' });
    await expect.poll(() => upstreams.getByText('responds', { exact: true }).count()).toBe(2);
    const limits = page.getByRole('region', { name: 'Limits' });
    const row = limits.getByRole('row').filter({ hasText: 'maxPageSize' });
    await expect.poll(() => row.textContent()).toBe('Entries of one page500maxPageSize');
  });

  test('says which upstream fails, since when and why, and that it has recovered', async () => {
    const opened = await browser.open('/status', { ...OWN_CLOCK, start: { config: { marketPollMs: 100 } } });
    const { page, gateway } = opened;
    const row = page
      .getByRole('region', { name: 'Upstreams' })
      .getByRole('row')
      .filter({ hasText: 'Market-data host' });
    await row.getByText('responds', { exact: true }).waitFor();
    await gateway.sandbox.marketData.stop();
    await showStatus(opened, 'MARKET_DATA', 'fails');
    await row.getByText('fails', { exact: true }).waitFor();
    await expect
      .poll(() => row.textContent())
      .toMatch(/The market-data host cannot be reached, .*UPSTREAM_UNREACHABLE$/);
    await gateway.sandbox.marketData.start();
    await showStatus(opened, 'MARKET_DATA', 'responds');
    await row.getByText('responds', { exact: true }).waitFor();
  });

  test('says what is not configured, and that nothing is recorded', async () => {
    const { page } = await browser.open('/status', { start: { without: 'MARKET_DATA' } });
    const upstreams = page.getByRole('region', { name: 'Upstreams' });
    await upstreams.getByText('not configured', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Freshness' }).getByText('This gateway records no prices.').waitFor();
    await page.getByRole('region', { name: 'Recorded heights' }).getByText('This gateway records no history').waitFor();
  });

  test('is accessible, and fits on a phone, with space around rows of two lines, and on a wide screen, light and dark', async () => {
    const { page } = await browser.open('/status', { gateway: shared(), viewport: 'phone' });
    await page.getByText('maxPageSize').waitFor({ state: 'attached' });
    const meaning = page.getByRole('rowheader', { name: 'Earlier heights that one operation reads' });
    const space = await meaning.evaluate((th) => {
      const range = document.createRange();
      range.selectNodeContents(th);
      return [th.getBoundingClientRect().height, range.getBoundingClientRect().height];
    });
    const [height = 0, text = 0] = space;
    expect(text).toBeGreaterThan(30);
    expect(height - text).toBeGreaterThanOrEqual(8);
    await expectToFit(page, 'status');
  });

  test('keeps what it knows while the gateway cannot be reached', async () => {
    const opened = await browser.open('/status', { ...OWN_CLOCK, gateway: shared(), allowed: [/ERR_FAILED/] });
    const { page } = opened;
    const freshness = page.getByRole('region', { name: 'Freshness' });
    const upstreams = page.getByRole('region', { name: 'Upstreams' });
    await expect.poll(() => freshness.getByText('fresh', { exact: true }).count()).toBe(2);
    await expect.poll(() => upstreams.getByText('responds', { exact: true }).count()).toBe(2);
    const version = page.getByText(/^pdex-gateway \d/);
    await expect.poll(() => version.count()).toBe(2);

    await page.route('**/graphql', (route) => route.abort());
    for (let request = 0; request < 2; request += 1) {
      const failed = ['Status', 'Service'].map((name) =>
        page.waitForEvent('requestfailed', (sent) => sent.postDataJSON()?.operationName === name),
      );
      await page.clock.fastForward(5_000);
      await Promise.all(failed);
    }
    expect(await freshness.getByText('fresh', { exact: true }).count()).toBe(2);
    await freshness.getByText('This page', { exact: true }).waitFor();
    expect(await upstreams.getByText('responds', { exact: true }).count()).toBe(2);
    expect(await version.count()).toBe(2);
    expect(await page.getByText('The gateway cannot be reached', { exact: true }).count()).toBe(0);
  });

  test('knows its own connection before the gateway has answered', async () => {
    const { page } = await browser.open('/status', {
      gateway: shared(),
      allowed: [/ERR_FAILED/],
      before: (opened) => opened.route('**/graphql', (route) => route.abort()),
    });
    const freshness = page.getByRole('region', { name: 'Freshness' });
    await freshness.getByText('The gateway cannot be reached', { exact: true }).waitFor();
    await freshness.getByRole('listitem').filter({ hasText: 'This page' }).waitFor();
    await expectAccessible(page);
  });

  test('names the newest missing heights, and says how many more are missing', async () => {
    const store = createStoreModel();
    const { page } = await browser.open('/status', {
      start: {
        store,
        sandbox: { history: 60 },
        config: { historyBackfillHours: 0 },
        before(started) {
          const { height } = started.chain.tip;
          const isMissing = (offset: number) => offset % 6 === 0 || offset === 43;
          const heights = chainHeights(started, height - 59, height - 3);
          return store.record(heights.filter((_, offset) => offset === 0 || !isMissing(offset)));
        },
      },
    });
    const facts = page.getByRole('region', { name: 'Recorded heights' });
    const factOf = (name: string) =>
      facts.getByText(name, { exact: true }).locator('xpath=following-sibling::dd[1]').textContent();
    await expect
      .poll(() => factOf('Missing'))
      .toMatch(/^1,\d{3},\d{3}; (1,\d{3},\d{3}( to 1,\d{3},\d{3})?; ){4}and 4 more heights$/);
    await expect.poll(() => factOf('Older heights')).toBe('nothing more to read now');
  });
});
