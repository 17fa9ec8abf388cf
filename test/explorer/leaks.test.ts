import { expect, test } from 'vitest';
import { describeInBrowser, type OpenedPage, untilHeight } from '../support/explorer.ts';

/** How often all pages are visited. `LEAK_ROUNDS=500` is a day of a restless reader. */
const ROUNDS = Number(process.env['LEAK_ROUNDS'] ?? 4);
const WARM_UP_ROUNDS = 2;
const HEIGHTS_PER_PAGE = 2;
/** The page asks how the gateway is every five seconds. */
const POLLS_PER_PAGE = 2;

const PAGES = ['Chain', 'Tokens', 'Status', 'Markets'] as const;

describeInBrowser('the explorer, open for long,', (browser) => {
  test('keeps its memory, its listeners and its subscriptions', { timeout: 60_000 + ROUNDS * 20_000 }, async () => {
    const opened = await browser.open('/', { context: {}, before: (page) => page.clock.install() });
    await visitAll(opened, WARM_UP_ROUNDS);
    const before = await measure(opened);
    await visitAll(opened, ROUNDS);
    // What has just left the screen is not always found by the first collection of garbage.
    await expect.poll(async () => (await measure(opened)).listeners).toBeLessThanOrEqual(before.listeners + 20);
    const after = await measure(opened);
    expect(after.subscribers).toBe(before.subscribers);
    expect(after.nodes).toBeLessThanOrEqual(before.nodes * 1.1 + 100);
    expect(after.heapBytes).toBeLessThanOrEqual(before.heapBytes * 1.15 + 1_000_000);
  });
});

/** Visits all pages, with new heights on each, and with the seconds that pass meanwhile. */
async function visitAll({ page, gateway }: OpenedPage, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const name of PAGES) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      for (let height = 0; height < HEIGHTS_PER_PAGE; height++) await gateway.advance();
      await untilHeight(page, gateway.sandbox.chain.tip.height);
      for (let poll = 0; poll < POLLS_PER_PAGE; poll++) await page.clock.fastForward(5_000);
    }
  }
}

async function measure({ page, gateway }: OpenedPage) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await devtools.send('Memory.getDOMCounters');
  await devtools.detach();
  const subscribers = gateway.app.service.sources.head.subscribers();
  return { heapBytes: usedSize, nodes, listeners: jsEventListeners, subscribers };
}
