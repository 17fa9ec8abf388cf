import { expect, test } from 'vitest';
import { chainHeights } from '../history/of-chain.ts';
import { createStoreModel } from '../history/store-model.ts';
import { advanceOnPage, describeInBrowser, expectToFit } from '../support/explorer.ts';
import type { TestGatewayOptions } from '../support/gateway.ts';

/** A gateway whose history has the newest final blocks of its sandbox. */
function recorded(): TestGatewayOptions {
  const store = createStoreModel();
  return {
    store,
    config: { historyBackfillHours: 0 },
    before(sandbox) {
      const { height } = sandbox.chain.tip;
      return store.record(chainHeights(sandbox, height - 70, height - 3));
    },
  };
}

describeInBrowser('the page of the chain', (browser) => {
  const shared = browser.share(recorded);

  test('shows the beacon chain, its epoch, every shard and who signed, and follows the chain', async () => {
    const opened = await browser.open('/chain', { start: recorded() });
    const { page, gateway } = opened;
    const { chain } = gateway.sandbox;
    const beacon = page.getByRole('region', { name: 'Beacon chain', exact: true });
    await beacon.getByText('1,640,000', { exact: true }).waitFor();
    const rows = page.getByRole('table').getByRole('row');
    await expect
      .poll(() => rows.getByRole('rowheader').allTextContents())
      .toEqual(['Beacon', ...Array.from({ length: 8 }, (_, shard) => `Shard ${shard}`)]);
    const { data } = await gateway.ask(
      '{ chainInfo { beacon { epochBlock remainingBlockEpoch } shard(id: 0) { hash validationData { validatorsIdx } } } }',
    );
    const { epochBlock, remainingBlockEpoch } = data.chainInfo.beacon;
    const { hash, validationData } = data.chainInfo.shard;
    const row = rows.nth(2);
    await expect
      .poll(() => row.textContent())
      .toContain(`signed: validators ${validationData.validatorsIdx.join(', ')}`);
    await expect.poll(() => row.getByTitle(hash).textContent()).toBe(`${hash.slice(0, 6)}…${hash.slice(-6)}`);
    const progress = beacon.getByRole('progressbar');
    await expect.poll(() => progress.getAttribute('value')).toBe(String(epochBlock - remainingBlockEpoch));

    const height = await advanceOnPage(opened, 2);
    expect(height).toBe(chain.tip.height);
    await beacon.getByText('1,640,002', { exact: true }).waitFor();
  });

  test('shows how long the blocks took', async () => {
    const { page } = await browser.open('/chain', { gateway: shared() });
    const panel = page.getByRole('region', { name: 'Block times' });
    await panel.locator('canvas').first().waitFor();
    await expect
      .poll(() => panel.getByText(/blocks took/).textContent())
      .toMatch(/^The last \d+ blocks took 40 s each \(median\)\. The slowest, 1,6[34]\d,\d{3}, took \d+ (s|min)\.$/);
    const link = panel.getByRole('link', { name: 'Show the query: Block times' });
    const url = new URL((await link.getAttribute('href')) ?? '', page.url());
    expect(url.searchParams.get('query')).toContain('blocks(last: $last)');
    expect(JSON.parse(url.searchParams.get('variables') ?? '')).toEqual({ last: 61 });
  });

  test('says that nothing is recorded, and that no node is configured', async () => {
    const { page } = await browser.open('/chain');
    await page.getByRole('region', { name: 'Block times' }).getByText('There is no price history').waitFor();
    const { page: other } = await browser.open('/chain', { start: { without: 'NODE' } });
    const beacon = other.getByRole('region', { name: 'Beacon chain', exact: true });
    await beacon.getByText('No node is configured').waitFor();
  });

  test('is accessible, and fits on a phone and on a wide screen, light and dark', async () => {
    const { page } = await browser.open('/chain', { gateway: shared(), viewport: 'phone' });
    await page.locator('canvas').first().waitFor();
    await page.getByRole('rowheader', { name: 'Shard 7' }).waitFor();
    await expectToFit(page, 'chain');
  });
});
