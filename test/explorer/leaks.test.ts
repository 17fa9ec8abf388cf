import { expect, test } from 'vitest';
import { describeInBrowser, type OpenedPage, untilHeight } from '../support/explorer.ts';

/** How often all pages are visited. `LEAK_ROUNDS=500` is a day of a restless reader. */
const ROUNDS = Number(process.env['LEAK_ROUNDS'] ?? 4);
const WARM_UP_ROUNDS = 2;
const HEIGHTS_PER_PAGE = 2;

const PAGES = ['Chain', 'Tokens', 'Status', 'Markets'] as const;

describeInBrowser('the explorer, open for long,', (browser) => {
  test('keeps its memory, its listeners and its subscriptions', { timeout: 300_000 + ROUNDS * 20_000 }, async () => {
    const opened = await browser.open('/', { context: {}, before: (page) => page.clock.install() });
    await visitAll(opened, WARM_UP_ROUNDS);
    const before = await measure(opened);
    await visitAll(opened, ROUNDS);
    // What has just left the screen is not always found by the first collection of garbage.
    await expect
      .poll(() => measure(opened))
      .toSatisfy(
        ({ listeners, nodes, heapBytes }: typeof before) =>
          listeners <= before.listeners + 20 &&
          nodes <= before.nodes * 1.1 + 100 &&
          heapBytes <= before.heapBytes * 1.15 + 1_000_000,
      );
  });
});

/** Visits all pages, with new heights on each, and with the seconds that pass meanwhile. */
async function visitAll({ page, gateway }: OpenedPage, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const name of PAGES) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      for (let height = 0; height < HEIGHTS_PER_PAGE; height++) {
        // Between two jumps, a head arrives, and the pong of a ping too. Otherwise, the page would miss the pong.
        await gateway.advance();
        await untilHeight(page, gateway.sandbox.chain.tip.height);
        // The page asks how the gateway is every five seconds.
        await page.clock.fastForward(5_000);
      }
    }
  }
}

/** Measures the page of the markets, once its only subscriptions are those to the head and to the prices of its rows. */
async function measure({ page, gateway }: OpenedPage) {
  await page.getByRole('rowheader').first().waitFor();
  await expect.poll(gateway.app.service.sources.head.subscribers).toBe(2);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await devtools.send('Memory.getDOMCounters');
  await devtools.detach();
  return { heapBytes: usedSize, nodes, listeners: jsEventListeners };
}
