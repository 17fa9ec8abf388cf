import { existsSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatInteger, formatPrice } from '../../explorer/src/format/numbers.ts';
import { startBlockingProxy } from '../support/blocking-proxy.ts';
import {
  advanceOnPage,
  describeInBrowser,
  expectNotWider,
  OWN_CLOCK,
  screenshot,
  untilHeight,
} from '../support/explorer.ts';
import { NGINX, startNginx } from '../support/nginx.ts';

/** What Chromium writes when a websocket cannot be opened, or a server is gone. */
const FAILED = [/WebSocket connection to|WebSocket is closed|ERR_|status of 502/];

const notice = (page: Page, key: string) => page.locator(`[role=status] [data-notice="${key}"]`);

/** Tells the page that the network is back. Then it tries to open a websocket at once. */
const comeOnline = (page: Page) => page.evaluate(() => dispatchEvent(new Event('online')));

describeInBrowser('the explorer behind a proxy that blocks websockets', (browser) => {
  test.each([
    { what: 'answers them with status 403', face: 'refused', waits: false },
    { what: 'resets their connections', face: 'reset', waits: false },
    { what: 'never answers them', face: 'unanswered', waits: true },
    { what: 'accepts them and passes nothing on', face: 'swallowed', waits: true },
  ] as const)('that $what, is live over event streams, and says so', async ({ face, waits }) => {
    const proxy = await startBlockingProxy(await browser.serve(), face);
    const { page } = await browser.open('/', { ...(waits && OWN_CLOCK), gateway: proxy, allowed: FAILED });
    if (waits) {
      await expect.poll(proxy.attempts).toBeGreaterThan(0);
      // Then it suspects that there will be no websocket.
      await page.clock.fastForward(5_000);
    }
    await notice(page, 'no-websocket').waitFor();
    expect(await notice(page, 'no-websocket').textContent()).toBe(
      'No websocket. The page receives live data over event streams, because it cannot open a websocket: a proxy may block websockets or not forward the Host header, or the gateway or the connection is slow. It tries again every minute.',
    );
    await advanceOnPage({ page, gateway: proxy });
    await expect.poll(proxy.openStreams).toBe(2);

    // As soon as websockets are not blocked any longer, there is one.
    proxy.face = 'open';
    await expect
      .poll(async () => {
        // Until the last attempt has ended, the page does not wait for the next one, and ignores the event.
        await comeOnline(page);
        return notice(page, 'no-websocket').count();
      })
      .toBe(0);
    await expect.poll(proxy.openStreams).toBe(0);
    await advanceOnPage({ page, gateway: proxy });
  });

  test('resumes when the proxy ends its streams, and when the gateway is back', async () => {
    const gateway = await browser.serve();
    const proxy = await startBlockingProxy(gateway, 'refused');
    const { page } = await browser.open('/', { gateway: proxy, allowed: FAILED });
    await notice(page, 'no-websocket').waitFor();
    await advanceOnPage({ page, gateway: proxy });
    proxy.cutStreams();
    for (let block = 0; block < 3; block += 1) await gateway.advance(1);
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'BTC / PRV', exact: true }) });
    const { data } = await gateway.ask('{ pair(tickerId: "pBTC_PRV") { poolPrice } }');
    await row.getByText(formatPrice(data.pair.poolPrice), { exact: true }).waitFor();
    expect(await notice(page, 'reconnecting').count()).toBe(0);

    await gateway.app.close();
    await notice(page, 'reconnecting').waitFor();
    await page.getByRole('button', { name: 'Connect now' }).waitFor();
    expect(await notice(page, 'no-websocket').count()).toBe(0);
    const restarted = await gateway.replace(5);
    await notice(page, 'no-websocket').waitFor();
    await untilHeight(page, restarted.sandbox.chain.tip.height);
    await advanceOnPage({ page, gateway: restarted });
  });

  test('follows more subscriptions than a browser has connections, and its queries do not wait for them', async () => {
    const proxy = await startBlockingProxy(await browser.serve(), 'refused');
    const { page } = await browser.open('/market/pBTC_PRV?pay=100', { gateway: proxy, allowed: FAILED });
    await page.setViewportSize({ width: 1440, height: 2_400 });
    await notice(page, 'no-websocket').waitFor();
    await page.getByText('Price impact').waitFor();
    for (let block = 0; block < 3; block += 1) {
      const height = formatInteger(await advanceOnPage({ page, gateway: proxy }, 2));
      for (const name of ['Market', 'Depth', 'Divergence', 'Swap']) {
        const panel = page.getByRole('region', { name, exact: true });
        await panel.getByText(`height ${height}`).first().waitFor();
      }
      // When streams take turns, the proxy may notice the next one before the end of the one before.
      await expect.poll(proxy.openStreams).toBeLessThanOrEqual(3);
    }
    await screenshot(page, 'event-streams-market');
  });

  test.skipIf(!existsSync(NGINX))(
    'is live behind nginx as it is by default: no websockets, and responses are buffered',
    async () => {
      const gateway = await browser.serve();
      const { origin } = new URL(gateway.url);
      const nginx = await startNginx(
        (port) => `
        events {}
        http {
          access_log off;
          server {
            listen 127.0.0.1:${port};
            location / { proxy_pass ${origin}; proxy_set_header Host $http_host; }
          }
        }`,
      );
      const behind = { ...gateway, url: new URL('/graphql', nginx).href };
      const { page } = await browser.open('/chain', { gateway: behind, allowed: FAILED });
      await notice(page, 'no-websocket').waitFor();
      await advanceOnPage({ page, gateway: behind });
    },
  );

  test('says on the page of the status how updates arrive', async () => {
    const proxy = await startBlockingProxy(await browser.serve(), 'refused');
    const { page } = await browser.open('/status', { gateway: proxy, allowed: FAILED });
    await page.getByText('Updates arrive over event streams, because the page cannot open a websocket.').waitFor();
    for (const viewport of ['phone', 'wide'] as const) await expectNotWider(page, viewport);
    await screenshot(page, 'event-streams-status');
  });
});
