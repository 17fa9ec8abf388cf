import { expect, test } from 'vitest';
import { createStoreModel } from '../history/store-model.ts';
import { describeInBrowser, expectAccessible, screenshot } from '../support/explorer.ts';
import type { TestGatewayOptions } from '../support/gateway.ts';

const SANDBOX = 'Sandbox. A simulated chain and market. No price is real.';

/** A gateway about which there is nothing to say. */
const quiet = (): TestGatewayOptions => ({ isSandbox: false, store: createStoreModel() });

/** What lasts as long as a gateway runs. `stale.test.ts` has what can change. */
const STATES: readonly {
  readonly name: string;
  readonly start: TestGatewayOptions;
  readonly notices: readonly RegExp[];
}[] = [
  { name: 'a gateway that is well', start: quiet(), notices: [] },
  { name: 'the sandbox', start: { store: createStoreModel() }, notices: [new RegExp(`^${SANDBOX}$`)] },
  { name: 'no history', start: { isSandbox: false }, notices: [/^No history\. This gateway records no prices/] },
  { name: 'no node', start: { ...quiet(), without: 'NODE' }, notices: [/^No node\. /, /^No history\. /] },
  { name: 'no market-data host', start: { ...quiet(), without: 'MARKET_DATA' }, notices: [/^No market-data host\. /] },
];

describeInBrowser('the banner of the explorer', (browser) => {
  test.each(STATES)('says what there is to know about $name', async ({ name, start, notices }) => {
    const { page } = await browser.open('/', { start, viewport: 'phone' });
    await page.getByText(/^pdex-gateway \d/).waitFor();
    await expect
      .poll(() => page.getByRole('status', { name: 'Notices' }).locator('p').allTextContents())
      .toEqual(notices.map((text) => expect.stringMatching(text)));
    // All notices look the same.
    if (notices.length > 1) await expectAccessible(page);
    await screenshot(page, `banner-${name.replaceAll(' ', '-')}`);
  });
});
