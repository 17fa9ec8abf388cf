import { expect, test } from 'vitest';
import { advanceOnPage, describeInBrowser, expectAccessible, screenshot, untilHeight } from '../support/explorer.ts';

/** What Chromium writes when a server is gone. */
const GONE = [/ERR_CONNECTION_|ERR_EMPTY_RESPONSE|WebSocket connection to/];

const notice = (key: string) => `[role=status] [data-notice="${key}"]`;

describeInBrowser('the connection of the explorer', (browser) => {
  test('comes back by itself when the gateway is killed and started again, and says so meanwhile', async () => {
    const { page, gateway } = await browser.open('/', { allowed: GONE });
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    // The files of all pages are there, so that they can be visited meanwhile.
    const hasFile = () => page.evaluate(() => performance.getEntries().some(({ name }) => /chain-page.*js/.test(name)));
    await expect.poll(hasFile).toBe(true);
    expect(await page.locator(notice('reconnecting')).count()).toBe(0);

    await gateway.app.close();
    const lost = page.locator(notice('reconnecting'));
    await lost.waitFor();
    expect(await lost.textContent()).toMatch(/^Reconnecting\. The gateway cannot be reached since \d\d:\d\d:\d\d\./);
    await page.getByRole('link', { name: 'Chain', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Chain' }).waitFor();
    await expectAccessible(page);
    await screenshot(page, 'shell-reconnecting');

    const restarted = await gateway.replace(5);
    await lost.waitFor({ state: 'detached' });
    await untilHeight(page, restarted.sandbox.chain.tip.height);
    // Subscriptions are there again too.
    await advanceOnPage({ page, gateway: restarted });
  });

  test('shows a page whose file could not be loaded as soon as the gateway is back', async () => {
    const file = /chain-page-.*\.js/;
    const { page, gateway } = await browser.open('/', {
      allowed: [...GONE, /ERR_FAILED/, /Failed to fetch dynamically imported module|Unable to preload CSS/],
      before: (opened) => opened.route(file, (route) => route.abort()),
    });
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    await page.getByRole('link', { name: 'Chain', exact: true }).click();
    await page.getByText('This page could not be loaded').waitFor();
    expect(await page.title()).toBe('This page is broken · pdex-gateway');
    await gateway.app.close();
    await page.unroute(file);
    await gateway.replace(1);
    await page.getByRole('heading', { level: 1, name: 'Chain' }).waitFor();
  });

  test('begins again when another chain is shown, and says so', async () => {
    const { page, gateway } = await browser.open('/chain', { allowed: GONE });
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    await advanceOnPage({ page, gateway }, 20);

    const restarted = await gateway.replace(0, { sandbox: { startTime: new Date('2026-01-02') } });
    await page.locator(notice('began-again')).waitFor();
    await untilHeight(page, restarted.sandbox.chain.tip.height);
    expect(restarted.sandbox.chain.tip.height).toBeLessThan(gateway.sandbox.chain.tip.height);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Chain');
    await advanceOnPage({ page, gateway: restarted });
    await screenshot(page, 'shell-began-again');
  });

  test('uses one websocket, on which each head arrives once, however many pages are visited', async () => {
    const sockets: string[] = [];
    const heads: number[] = [];
    const { page, gateway } = await browser.open('/', {
      before: async (opened) => {
        opened.on('websocket', (socket) => {
          sockets.push(socket.url());
          socket.on('framereceived', ({ payload }) => {
            const height = /"head":\{[^}]*"beaconHeight":(\d+)/.exec(String(payload))?.[1];
            if (height !== undefined) heads.push(Number(height));
          });
        });
      },
    });
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    for (const name of ['Chain', 'Tokens', 'Status', 'Markets']) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await advanceOnPage({ page, gateway });
    }
    expect(sockets).toEqual([gateway.webSocketUrl]);
    expect(heads).toEqual([1_640_000, 1_640_001, 1_640_002, 1_640_003, 1_640_004]);
  });
});
