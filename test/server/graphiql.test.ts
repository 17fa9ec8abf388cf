import { existsSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Browser, chromium, type Page } from 'playwright-core';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GRAPHIQL_TABS } from '../../src/server/graphiql-tabs.ts';
import { startGateway, startGatewayForTest } from '../support/gateway.ts';

const BROWSER_HEADERS = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

async function get(url: string, headers: Record<string, string>) {
  const { statusCode, headers: answered, body } = await request(url, { headers });
  return { status: statusCode, headers: answered, bytes: Buffer.from(await body.arrayBuffer()) };
}

describe('the page of GraphiQL', () => {
  test('is sent compressed, and not again where the browser has it', async () => {
    const { app } = await startGatewayForTest();
    const url = await app.listen(0, '127.0.0.1');
    const plain = await get(url, BROWSER_HEADERS);
    const br = await get(url, { ...BROWSER_HEADERS, 'accept-encoding': 'gzip, deflate, br, zstd' });
    const gzip = await get(url, { ...BROWSER_HEADERS, 'accept-encoding': 'gzip' });
    expect([plain, br, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'br', 'gzip']);
    expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect(br.bytes.length).toBeLessThan(plain.bytes.length / 3);

    const etag = String(br.headers['etag']);
    const again = await get(url, { ...BROWSER_HEADERS, 'accept-encoding': 'br', 'if-none-match': etag });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  });

  test('loads nothing from elsewhere', async () => {
    const { app } = await startGatewayForTest();
    const { bytes } = await get(await app.listen(0, '127.0.0.1'), BROWSER_HEADERS);
    expect(String(bytes)).not.toMatch(/<(script|link|img)[^>]*(src|href)="https?:/);
  });

  test('is not in the way of queries, and can be switched off', async () => {
    const { app, sandbox } = await startGatewayForTest();
    const url = await app.listen(0, '127.0.0.1');
    const query = await get(`${url}?query={beaconHeight}`, { accept: 'text/html, application/json' });
    expect(JSON.parse(String(query.bytes))).toEqual({ data: { beaconHeight: sandbox.world.tip.height } });

    const { app: without } = await startGatewayForTest({ config: { graphiql: false } });
    const off = await get(await without.listen(0, '127.0.0.1'), BROWSER_HEADERS);
    expect(String(off.bytes)).not.toContain('<html');
  });
});

test.each(GRAPHIQL_TABS.map((query) => ({ query, name: /(?:query|subscription) (\w+)/.exec(query)?.[1] })))(
  'the tab $name says what it teaches, and works',
  async ({ query }) => {
    const { ask, subscribe } = await startGatewayForTest();
    expect(query).toMatch(/^# [A-Z]/);
    const isLive = /^subscription/m.test(query);
    const answer = isLive ? (await subscribe(query).next()).value : await ask(query);
    expect(answer?.errors).toBeUndefined();
    expect(answer?.data).toBeTruthy();
  },
);

const CHROMIUM = '/usr/bin/chromium';
const hasChromium = existsSync(CHROMIUM);

// On a machine without Chromium this says that it was skipped; CI installs it, and there a skip is a failure.
test.runIf(process.env['CI'])('CI has a browser', () => expect(hasChromium).toBe(true));

describe.skipIf(!hasChromium)('GraphiQL in a browser without internet', () => {
  let browser: Browser;
  let page: Page;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  const elsewhere: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway();
    const url = await gateway.app.listen(0, '127.0.0.1');
    const args = [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
    ];
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [...args, '--disable-component-update', '--disable-sync'],
    });
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(8_000);
    await page.route(/^https?:\/\/(?!127\.0\.0\.1)/, (route) => {
      elsewhere.push(route.request().url());
      return route.abort();
    });
    await page.goto(url);
    await tabButton('Prices').waitFor();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
  });

  const tabButton = (name: string) => page.locator('.graphiql-tab-button').getByText(name, { exact: true });

  async function run(tab: string): Promise<void> {
    // By keyboard: the tabs can be dragged, and a synthetic click of no length is taken for the start of that.
    await tabButton(tab).press('Enter');
    // GraphiQL notes the tab once it has read its operation: before that it would run the one of the tab before.
    const index = GRAPHIQL_TABS.findIndex((query) => query.includes(` ${tab}`));
    await page.waitForFunction((wanted) => {
      const state = JSON.parse(globalThis.localStorage.getItem('graphiql:tabState') ?? '{}');
      return state.activeTabIndex === wanted;
    }, index);
    await page.locator('.graphiql-execute-button').click();
  }

  const result = () => page.locator('.result-window');

  test.each([
    ['Prices', 'exactPrice'],
    ['Market', 'cumulativeQuantity'],
    ['Status', 'chainName'],
    ['TimeTravel', '@1639999'],
    ['Pages', 'endCursor'],
  ])('the tab %s is run with a click', async (tab, field) => {
    await run(tab);
    await result().getByText(field).first().waitFor();
  });

  test('live prices arrive over a websocket, height after height', async () => {
    await run('LivePrices');
    for (let block = 0; block < 3; block++) {
      await result().getByText(String(gateway.sandbox.world.tip.height)).first().waitFor();
      gateway.sandbox.advance();
    }
    expect(gateway.app.service.sources.head.listeners()).toBe(1);
    await page.locator('.graphiql-execute-button').click();
    await expect.poll(() => gateway.app.service.sources.head.listeners()).toBe(0);
  });

  test('the docs panel shows the manual', async () => {
    await page.getByLabel('Show Documentation Explorer').click();
    await page.locator('.graphiql-doc-explorer').getByText('Query', { exact: true }).first().click();
    await page.getByText('Everything that can be asked once').first().waitFor();
  });

  test('nothing was asked of any other host', () => {
    expect(elsewhere).toEqual([]);
  });
});
