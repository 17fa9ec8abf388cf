import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { formatPrice } from '../../explorer/src/format/numbers.ts';
import {
  advanceOnPage,
  describeInBrowser,
  expectAccessible,
  OWN_CLOCK,
  screenshot,
  untilHeight,
} from '../support/explorer.ts';

/** What Chromium writes when a server is gone. */
const GONE = [/ERR_CONNECTION_|ERR_EMPTY_RESPONSE|WebSocket connection to/];

/** Starts a proxy that changes the Host header, and drops the header that says the same. */
async function proxyTo(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const changed = ({ 'sec-fetch-site': _same, ...headers }: IncomingHttpHeaders) => ({
    ...headers,
    host: 'internal.example',
  });
  const server = createServer((received, response) => {
    const headers = changed(received.headers);
    const sent = request({ hostname, port, method: received.method, path: received.url, headers }, (from) => {
      response.writeHead(from.statusCode ?? 500, from.headers);
      from.pipe(response);
    });
    sent.on('error', () => response.destroy());
    received.pipe(sent);
  });
  server.on('upgrade', (received, socket) => {
    const lines = Object.entries(changed(received.headers)).map(([name, value]) => `${name}: ${value}\r\n`);
    const to = connect(Number(port), hostname, () => to.write(`GET ${received.url} HTTP/1.1\r\n${lines.join('')}\r\n`));
    to.on('error', () => socket.destroy())
      .pipe(socket.on('error', () => to.destroy()))
      .pipe(to);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}

const notice = (key: string) => `[role=status] [data-notice="${key}"]`;

describeInBrowser('the connection of the explorer', (browser) => {
  test('comes back by itself when the gateway is killed and started again, and says so meanwhile', async () => {
    const { page, gateway } = await browser.open('/', { allowed: GONE });
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    // The files of all pages are there, so that they can be visited meanwhile.
    const areLoaded = () =>
      page.evaluate(() => {
        const loaded = performance.getEntries().map(({ name }) => name);
        const links = [...document.querySelectorAll<HTMLLinkElement>('[rel=modulepreload], [rel=stylesheet]')];
        const files = links.map(({ href }) => href);
        return files.some((file) => /chain-page.*js/.test(file)) && files.every((file) => loaded.includes(file));
      });
    await expect.poll(areLoaded).toBe(true);
    expect(await page.locator(notice('reconnecting')).count()).toBe(0);

    await gateway.app.close();
    const lost = page.locator(notice('reconnecting'));
    await lost.waitFor();
    await expect
      .poll(() => lost.textContent())
      .toMatch(/^Reconnecting\. The page has not reached the gateway since \d\d:\d\d:\d\d\./);
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

  const REFUSED = [...GONE, /status of 403/];

  test('says that the gateway refuses the page, if it does', async () => {
    // With the sandbox, it would take pages of this computer.
    const gateway = await browser.serve({ isSandbox: false });
    const url = await proxyTo(gateway.url);
    const { page } = await browser.open('/chain', { gateway: { ...gateway, url }, allowed: REFUSED });
    await expect
      .poll(() => page.locator(notice('refused')).textContent())
      .toMatch(/^Refused\. The requests of this page are refused with status 403\. .*Host header/);
    await page.getByText('The gateway refuses this page').first().waitFor();
    expect(await page.getByText(/cannot be reached|has not reached/).count()).toBe(0);
    await expectAccessible(page);
    await screenshot(page, 'shell-refused');
  });

  test('shows the markets as they were while the gateway is away, and then those of the new one', async () => {
    const { page, gateway } = await browser.open('/', { allowed: GONE });
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'BTC / PRV', exact: true }) });
    const price = () => row.getByRole('cell').first().textContent();
    const priceOf = async ({ ask }: Pick<typeof gateway, 'ask'>) => {
      const { data } = await ask('{ pair(tickerId: "pBTC_PRV") { poolPrice } }');
      return formatPrice(data.pair.poolPrice);
    };
    const before = await priceOf(gateway);
    await expect.poll(price).toBe(before);
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));

    await gateway.app.close();
    const lost = page.locator(notice('reconnecting'));
    await lost.waitFor();
    expect(await price()).toBe(before);
    // What is here can still be searched.
    await page.getByRole('searchbox').fill('btc');
    await page.getByText(/^\d+ of \d+ markets$/).waitFor();
    await screenshot(page, 'markets-reconnecting', { fullPage: false });

    const restarted = await gateway.replace(30);
    await lost.waitFor({ state: 'detached' });
    const after = await priceOf(restarted);
    expect(after).not.toBe(before);
    await expect.poll(price).toBe(after);
    await advanceOnPage({ page, gateway: restarted }, 20);
    const latest = await priceOf(restarted);
    expect(latest).not.toBe(after);
    await expect.poll(price).toBe(latest);
    expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
    await screenshot(page, 'markets-reconnected', { fullPage: false });
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
    await expect.poll(() => page.title()).toBe('This page is broken · pdex-gateway');
    await gateway.app.close();
    await page.unroute(file);
    await gateway.replace(1);
    await page.getByRole('heading', { level: 1, name: 'Chain' }).waitFor();
  });

  test('loads itself again for a page whose file is gone, as after an update of the gateway', async () => {
    let loads = 0;
    const { page, gateway } = await browser.open('/', {
      ...OWN_CLOCK,
      allowed: [/404/, /Failed to fetch dynamically imported module|Unable to preload CSS/],
      before: async (opened) => {
        await OWN_CLOCK.before(opened);
        opened.on('request', (request) => {
          if (request.isNavigationRequest()) loads += 1;
        });
        await opened.route(/chain-page-.*\.js/, (route) =>
          loads === 1 ? route.fulfill({ status: 404 }) : route.continue(),
        );
      },
    });
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    // The page gives up a websocket that is not open by then.
    await expect.poll(gateway.app.service.sources.head.subscribers).toBeGreaterThan(0);
    await page.clock.fastForward(40_000);
    await page.getByRole('link', { name: 'Chain', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Chain' }).waitFor();
    expect(loads).toBe(2);
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
    // The page may know a height from the status before its head arrives.
    const expected = [gateway.sandbox.chain.tip.height];
    await expect.poll(() => heads).toEqual(expected);
    for (const name of ['Chain', 'Tokens', 'Status', 'Markets']) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      expected.push(await advanceOnPage({ page, gateway }));
      await expect.poll(() => heads).toEqual(expected);
    }
    expect(sockets).toEqual([gateway.webSocketUrl]);
  });
});
