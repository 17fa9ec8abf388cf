import { expect, test } from 'vitest';
import { createStoreModel } from '../history/store-model.ts';
import { describeInBrowser, expectAccessible, screenshot } from '../support/explorer.ts';
import type { TestGatewayOptions } from '../support/gateway.ts';
import type { ServedGateway } from '../support/served-gateway.ts';

const SANDBOX = 'Sandbox. A simulated chain and market. No price is real.';

/** A gateway about which there is nothing to say. */
const quiet = (): TestGatewayOptions => ({ isSandbox: false, store: createStoreModel() });

const STATES: readonly {
  readonly name: string;
  readonly start: TestGatewayOptions;
  /** Done when the gateway has read everything. */
  readonly fail?: (gateway: ServedGateway) => void;
  readonly notices: readonly RegExp[];
}[] = [
  { name: 'a gateway that is well', start: quiet(), notices: [] },
  { name: 'the sandbox', start: { store: createStoreModel() }, notices: [new RegExp(`^${SANDBOX}$`)] },
  { name: 'no history', start: { isSandbox: false }, notices: [/^No history\. This gateway records no prices/] },
  {
    name: 'a node that cannot be reached any longer',
    start: quiet(),
    fail: ({ sandbox }) => sandbox.node.faults.set({ kind: 'reset' }),
    notices: [/^Chain data is stale\. The node cannot be read since [\w:, ]+: it cannot be reached\./],
  },
  {
    name: 'a market-data host that sends errors',
    start: quiet(),
    fail: ({ sandbox }) => sandbox.marketData.faults.set({ kind: 'status', status: 500 }),
    notices: [
      /^Market data is stale\. The market-data host cannot be read since [\w:, ]+: it responds with an error status\./,
    ],
  },
  { name: 'no node', start: { ...quiet(), without: 'NODE' }, notices: [/^No node\. /, /^No history\. /] },
  { name: 'no market-data host', start: { ...quiet(), without: 'MARKET_DATA' }, notices: [/^No market-data host\. /] },
];

async function isStale({ ask }: ServedGateway): Promise<boolean> {
  const { data } = await ask('{ service { head { stale } marketData { stale } } }');
  return data.service.head.stale || data.service.marketData.stale;
}

describeInBrowser('the banner of the explorer', (browser) => {
  test.each(STATES)('says what there is to know about $name', async ({ name, start, fail, notices }) => {
    const gateway = await browser.serve(start);
    fail?.(gateway);
    if (fail) await expect.poll(() => isStale(gateway)).toBe(true);
    const { page } = await browser.open('/', { gateway, viewport: 'phone' });
    await page.getByText(/^pdex-gateway \d/).waitFor();
    await expect
      .poll(() => page.getByRole('status', { name: 'Notices' }).locator('p').allTextContents())
      .toEqual(notices.map((text) => expect.stringMatching(text)));
    // All notices look the same.
    if (notices.length > 1) await expectAccessible(page);
    await screenshot(page, `banner-${name.replaceAll(' ', '-')}`);
  });
});
