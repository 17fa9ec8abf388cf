import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GRAPHIQL_TABS } from '../../../src/server/pages/graphiql-tabs.ts';
import { createStoreModel } from '../../history/store-model.ts';
import { hasBrowser, launchBrowser } from '../../support/browser.ts';
import { START, startGateway, startGatewayForTest } from '../../support/gateway.ts';

const BROWSER_HEADERS = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

async function get(url: string, headers: Record<string, string>) {
  const { statusCode, headers: answered, body } = await request(url, { headers });
  return { status: statusCode, headers: answered, bytes: Buffer.from(await body.arrayBuffer()) };
}

describe('the page of GraphiQL', () => {
  test('is sent compressed, and only once to a browser', async () => {
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
    // Different bytes have different strong entity tags (RFC 9110).
    expect(new Set([plain, br, gzip].map(({ headers }) => headers['etag'])).size).toBe(3);
  });

  test('is the response to a browser that opens a query as a page, and the query is not executed', async () => {
    const { app } = await startGatewayForTest();
    const url = await app.listen(0, '127.0.0.1');
    const page = await get(url, BROWSER_HEADERS);
    for (const headers of [
      BROWSER_HEADERS,
      { ...BROWSER_HEADERS, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      { accept: '*/*', 'sec-fetch-mode': 'navigate' },
    ]) {
      const { headers: answered } = await get(`${url}?query={beaconHeight}&variables={}`, headers);
      expect([answered['content-type'], answered['etag']]).toEqual(['text/html; charset=utf-8', page.headers['etag']]);
    }
  });

  test('fits the width of a phone, and loads nothing from other hosts', async () => {
    const { app } = await startGatewayForTest();
    const { bytes } = await get(await app.listen(0, '127.0.0.1'), BROWSER_HEADERS);
    const html = String(bytes);
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(html).not.toMatch(/<(script|link|img)[^>]*(src|href)="https?:/);
  });

  test('does not affect queries, and can be switched off', async () => {
    const { app, sandbox } = await startGatewayForTest();
    const url = await app.listen(0, '127.0.0.1');
    const answer = { data: { beaconHeight: sandbox.chain.tip.height } };
    for (const headers of [
      {},
      { accept: '*/*' },
      { accept: 'application/json, text/html' },
      { accept: 'text/html;q=0, application/json' },
      { accept: 'text/html, application/json', 'sec-fetch-mode': 'cors' },
      { ...BROWSER_HEADERS, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    ]) {
      const query = await get(`${url}?query={beaconHeight}`, headers);
      expect([headers, JSON.parse(String(query.bytes))]).toEqual([headers, answer]);
    }

    const { app: without } = await startGatewayForTest({ config: { graphiql: false } });
    const off = await get(await without.listen(0, '127.0.0.1'), BROWSER_HEADERS);
    expect(String(off.bytes)).not.toContain('<html');
  });
});

const TABS = GRAPHIQL_TABS.map((tab) => ({ ...tab, name: /(?:query|subscription) (\w+)/.exec(tab.query)?.[1] ?? '' }));

test.each(TABS)('the tab $name has a description, fits 50 columns, and works', async (tab) => {
  const config = { historyBackfillHours: 0 };
  const { ask, subscribe, sandbox } = await startGatewayForTest({ store: createStoreModel(), config });
  const { query, heightsBack, minutesBack } = tab;
  expect(query).toMatch(/^# [A-Z]/);
  expect(query.split('\n').filter((line) => line.length > 50)).toEqual([]);
  expect(query).not.toMatch(/\d{6}/);

  const variables = {
    ...JSON.parse(tab.variables ?? '{}'),
    ...(heightsBack === undefined ? {} : { height: sandbox.chain.tip.height - heightsBack }),
    ...(minutesBack === undefined ? {} : { time: new Date(START - minutesBack * 60_000).toISOString() }),
  };
  const isLive = /^subscription/m.test(query);
  const answer = isLive ? (await subscribe(query, variables).next()).value : await ask(query, variables);
  expect(answer?.errors).toBeUndefined();
  expect(answer?.data).toBeTruthy();
});

// Without Chromium these tests are skipped. CI installs it, and fails if it is missing.
test.runIf(process.env['CI'])('CI has a browser', () => expect(hasBrowser).toBe(true));

describe.skipIf(!hasBrowser)('GraphiQL in a browser without internet', () => {
  let browser: Browser;
  let page: Page;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  const elsewhere: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway();
    const url = await gateway.app.listen(0, '127.0.0.1');
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(60_000);
    // 9 MB of page are parsed by a browser that shares two cores with other tests.
    page.setDefaultNavigationTimeout(60_000);
    await page.route(/^https?:\/\/(?!127\.0\.0\.1)/, (route) => {
      elsewhere.push(route.request().url());
      return route.abort();
    });
    await page.goto(url);
    await tabButton('Prices').waitFor();
  });

  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    // No test has requested anything of another host.
    expect(elsewhere).toEqual([]);
  });

  const tabButton = (name: string) => page.locator('.graphiql-tab-button').getByText(name, { exact: true });
  const tabNames = () => page.locator('.graphiql-tab-button').allTextContents();
  const activeTab = () => page.locator('.graphiql-tab-active .graphiql-tab-button').textContent();
  const result = () => page.locator('.result-window');
  const execute = () => page.locator('.graphiql-execute-button').click();

  /** With the mouse, and held down for as long as a person does. */
  async function choose(tab: string): Promise<void> {
    await tabButton(tab).click({ delay: 80 });
    expect(await activeTab()).toBe(tab);
    // GraphiQL reads the operation of a tab after a click. Before that, it would run the one of the previous tab.
    const index = (await tabNames()).indexOf(tab);
    const activeIndex = () =>
      page.evaluate(() => JSON.parse(globalThis.localStorage.getItem('graphiql:tabState') ?? '{}').activeTabIndex);
    await expect.poll(activeIndex).toBe(index);
  }

  test.each([
    ['Market', 'cumulativeQuantity'],
    ['Status', 'chainName'],
    ['TimeTravel', '@1639910'],
    ['HeightAtTime', 'beaconHeightAt'],
    ['Pages', 'endCursor'],
    ['Swap', 'minimumReceived'],
    ['Prices', 'exactPrice'],
  ])('one click selects the tab %s, and another runs it', async (tab, field) => {
    await choose(tab);
    await execute();
    await result().getByText(field).first().waitFor();
  });

  test('each result shows what its operation costs', async () => {
    await choose('Status');
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await execute();
    expect((await (await answered).json()).extensions).toEqual({
      cost: { points: expect.any(Number), complexity: expect.any(Number), values: expect.any(Number) },
    });
  });

  test('live prices arrive over a websocket, height after height', async () => {
    await choose('LivePrices');
    await execute();
    for (let block = 0; block < 3; block++) {
      await result().getByText(String(gateway.sandbox.chain.tip.height)).first().waitFor();
      gateway.sandbox.advance();
    }
    expect(gateway.app.service.sources.head.subscribers()).toBe(1);
    await execute();
    await expect.poll(() => gateway.app.service.sources.head.subscribers()).toBe(0);
  });

  test('a reload shows the same tabs, and the selected one', async () => {
    await choose('LivePrices');
    const names = await tabNames();
    await page.reload();
    await tabButton('LivePrices').waitFor();
    expect([await activeTab(), await tabNames()]).toEqual(['LivePrices', names]);
    expect(new URL(page.url()).search).toBe('');
    await page.locator('.view-line').getByText('LivePrices').first().waitFor();
  });

  test('a link with a query and variables opens them in a tab, once', async () => {
    const query = 'query Linked($height: BeaconHeight) { poolPairs(first: 1, at: $height) { nodes { id } } }';
    const names = await tabNames();
    const link = new URL(page.url());
    link.search = String(new URLSearchParams({ query, variables: '{"height":1639950}' }));
    for (let times = 0; times < 2; times++) {
      await page.goto(link.href);
      await tabButton('Linked').waitFor();
      expect([await activeTab(), (await tabNames()).length]).toEqual(['Linked', names.length + 1]);
      expect(new URL(page.url()).search).toBe('');
    }
    await page.locator('.view-line').getByText('1639950').first().waitFor();
    await execute();
    await result().getByText('@1639950').first().waitFor();
  });

  test('a link opens its query for a new visitor, in addition to the tabs', async () => {
    const context = await browser.newContext();
    const newcomer = await context.newPage();
    newcomer.setDefaultTimeout(60_000);
    newcomer.setDefaultNavigationTimeout(60_000);
    const query = 'query Linked { beaconHeight }';
    await newcomer.goto(`${page.url()}?query=${encodeURIComponent(query)}`);
    const tabs = newcomer.locator('.graphiql-tab-button');
    await tabs.getByText('Linked', { exact: true }).waitFor();
    expect(await tabs.allTextContents()).toEqual(['Linked', ...TABS.map(({ name }) => name)]);
    expect(await newcomer.locator('.graphiql-tab-active .graphiql-tab-button').textContent()).toBe('Linked');
    await newcomer.locator('.graphiql-execute-button').click();
    await newcomer.locator('.result-window').getByText('beaconHeight').first().waitFor();
    await context.close();
  });

  test('the docs panel begins with the description of the endpoint', async () => {
    await page.getByLabel('Show Documentation Explorer').click();
    const docs = page.locator('.graphiql-doc-explorer');
    await docs.getByText('market-data host').first().waitFor();
    await docs.getByText('Query', { exact: true }).first().click();
    await page.getByText('All queries. Each response des').first().waitFor();
  });
});
