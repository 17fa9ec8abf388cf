import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createStoreModel } from '../history/store-model.ts';
import { readChartLabels, recordChartLabels } from '../support/chart-labels.ts';
import { advanceOnPage, describeInBrowser, screenshot } from '../support/explorer.ts';
import type { TestGatewayOptions } from '../support/gateway.ts';
import { recorded } from './recorded.ts';

const VIEWPORTS = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
];

/** A gateway whose pools all have that reserve of token 1, in smallest units, so that prices are of any size. */
function priced(reserve: number): TestGatewayOptions {
  return {
    store: createStoreModel(),
    config: { historyBackfillHours: 0 },
    before({ node }) {
      const path = ['Result', 'PDEPoolPairs', '*', 'Token1PoolValue'];
      node.faults.set({ kind: 'shape', on: 'getpdestate', path, value: reserve });
    },
  };
}

async function expectWholeLabels(page: Page, expected: RegExp): Promise<void> {
  const read = async () => {
    const { texts, faults } = await readChartLabels(page);
    return { faults, texts: texts.filter((text) => expected.test(text)).length > 1 ? 'as expected' : texts };
  };
  await expect.poll(read).toEqual({ faults: [], texts: 'as expected' });
}

describeInBrowser('the labels of charts', (browser) => {
  test.each([
    ['usual prices', recorded(), /^1\d,\d{3}\.\d\d$/],
    ['large prices', priced(2.2e18), /^1\d,\d{3},\d{3}\.\d\d$/],
    ['small prices', priced(21_240), /^0\.0000001\d+$/],
  ])('of a market are neither cut nor over others: %s', async (name, start, price) => {
    const opened = await browser.open('/market/pBTC_PRV?interval=1m', {
      start,
      initScript: recordChartLabels,
    });
    const { page } = opened;
    await page.getByRole('link', { name: 'Show the query: Market' }).waitFor();
    await advanceOnPage(opened, 6);
    for (const viewport of VIEWPORTS) {
      await page.setViewportSize(viewport);
      for (const panel of ['Price', 'Depth']) {
        const region = page.getByRole('region', { name: panel, exact: true });
        await region.scrollIntoViewIfNeeded();
        await region.locator('canvas').first().waitFor();
      }
      for (let height = 0; height < 3; height += 1) {
        await advanceOnPage(opened);
        await expectWholeLabels(page, price);
      }
      await screenshot(page, `labels-${name}-${viewport.width}`);
    }
  });

  test('of the times of blocks are neither cut nor over others', async () => {
    const opened = await browser.open('/chain', {
      start: recorded(),
      initScript: recordChartLabels,
    });
    const { page } = opened;
    for (const viewport of VIEWPORTS) {
      await page.setViewportSize(viewport);
      await page.locator('canvas').first().waitFor();
      for (let height = 0; height < 3; height += 1) {
        await advanceOnPage(opened);
        await expectWholeLabels(page, /^1,6\d\d,\d{3}$/);
      }
    }
  });
});
