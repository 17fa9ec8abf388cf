import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toParameters } from '../../../explorer/src/graphiql/link.ts';
import { EXAMPLE_TABS } from '../../../explorer/src/graphiql/tabs.ts';
import { createHistoryStore } from '../../../src/history/store-client.ts';
import { createStoreModel } from '../../history/store-model.ts';
import { hasBrowser, newPage } from '../../support/browser.ts';
import { denyStorage } from '../../support/explorer.ts';
import { readBuiltExplorer } from '../../support/explorer-build.ts';
import { START, startGateway, startGatewayForTest } from '../../support/gateway.ts';

const DESKTOP = { width: 1400, height: 900 };
const BROWSER_HEADERS = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

async function get(url: string, headers: Record<string, string>) {
  const { statusCode, headers: answered, body } = await request(url, { headers });
  return { status: statusCode, headers: answered, bytes: Buffer.from(await body.arrayBuffer()) };
}

// The page is built with the explorer.
beforeAll(readBuiltExplorer);

describe('the page of GraphiQL', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let url = '';
  beforeAll(async () => {
    gateway = await startGateway();
    url = await gateway.app.listen(0, '127.0.0.1');
  });
  afterAll(() => gateway.close());

  test('is sent compressed, and only once to a browser', async () => {
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
    const { bytes } = await get(url, BROWSER_HEADERS);
    const html = String(bytes);
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(html).not.toMatch(/<(script|link|img)[^>]*(src|href)="https?:/);
  });

  test('does not affect queries, and can be switched off', async () => {
    const answer = { data: { beaconHeight: gateway.sandbox.chain.tip.height } };
    for (const headers of [
      {},
      { accept: '*/*' },
      { accept: 'application/json, text/html' },
      { accept: 'text/html;q=0, application/json' },
      { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' },
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

const TABS = EXAMPLE_TABS.map((tab) => ({ ...tab, name: /(?:query|subscription) (\w+)/.exec(tab.query)?.[1] ?? '' }));

test('there are at most six tabs with short titles, and one of the first two is a subscription', () => {
  expect(TABS.length).toBeLessThanOrEqual(6);
  expect(TABS.filter(({ name }) => name.length > 8)).toEqual([]);
  expect(TABS.slice(0, 2).some(({ query }) => /^subscription/m.test(query))).toBe(true);
});

test.each(TABS)('the tab $name has a description and fits 50 columns', ({ query }) => {
  expect(query).toMatch(/^# [A-Z]/);
  expect(query.split('\n').filter((line) => line.length > 50)).toEqual([]);
  expect(query).not.toMatch(/\d{6}/);
});

/** The fields of tabs that are null, with the reason, by the version of the exchange that trades. */
const NULL_FIELDS: Readonly<Record<'v1' | 'v3', Readonly<Record<string, string>>>> = {
  v1: {
    'V3.pool': 'pools of V1 have no ids to be found by',
    'V3.quote': 'V1 has no route between these tokens',
    'Past.history': 'nothing is recorded yet',
  },
  v3: { 'Past.history': 'nothing is recorded yet' },
};

describe.each(['v1', 'v3'] as const)('where %s trades', (exchange) => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => {
    const config = { historyBackfillHours: 0, tradesBackfillHours: 0 };
    gateway = await startGateway({ store: createStoreModel(), config, sandbox: { exchange } });
    await gateway.untilReady();
  });
  afterAll(() => gateway.close());

  test.each(TABS)('the tab $name works', async ({ name, query, heightsBack, minutesBack, variables: others }) => {
    const variables = {
      ...others,
      ...(heightsBack === undefined ? {} : { height: gateway.sandbox.chain.tip.height - heightsBack }),
      ...(minutesBack === undefined ? {} : { time: new Date(START - minutesBack * 60_000).toISOString() }),
    };
    const isLive = /^subscription/m.test(query);
    const answer = isLive
      ? (await gateway.subscribe(query, variables).next()).value
      : await gateway.ask(query, variables);
    expect(answer?.errors).toBeUndefined();
    const nullFields = Object.entries(answer?.data ?? {}).flatMap(([field, value]) => (value === null ? field : []));
    expect(answer?.data).toBeTruthy();
    expect(nullFields.filter((field) => !(`${name}.${field}` in NULL_FIELDS[exchange]))).toEqual([]);
  });
});

test('the tab V3 shows a pool with its orders and trades and a quote with its fee, and null where V1 trades', async () => {
  const tab = TABS.find(({ name }) => name === 'V3');
  const read = async (exchange: 'v1' | 'v3') => {
    const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
    const config = { historyBackfillHours: 0, tradesBackfillHours: 0 };
    const { ask, untilReady } = await startGatewayForTest({ store, config, sandbox: { exchange } });
    await untilReady();
    const { data, errors } = await ask(tab?.query ?? '', tab?.variables);
    expect(errors).toBeUndefined();
    return data;
  };
  const v3 = await read('v3');
  expect(v3.service.exchangeVersion).toBe('V3');
  expect(v3.pool.orders).toHaveLength(4);
  expect(v3.pool.book.bids).not.toEqual([]);
  expect([v3.pool.volume.trades, v3.pool.volume.isComplete]).toEqual([v3.pool.trades.nodes.length, false]);
  expect(v3.quote.fee).toMatchObject({ rateBps: expect.any(Number), inSellToken: expect.stringMatching(/^[1-9]/) });
  expect(v3.quote.route.every(({ poolPair }: { poolPair: { poolId: string } }) => poolPair.poolId)).toBe(true);

  const v1 = await read('v1');
  expect([v1.service.exchangeVersion, v1.pool, v1.quote?.fee ?? null]).toEqual(['V1', null, null]);
});

// Without Chromium these tests are skipped. CI installs it, and fails if it is missing.
test.runIf(process.env['CI'])('CI has a browser', () => expect(hasBrowser).toBe(true));

describe.skipIf(!hasBrowser)('GraphiQL in a browser without internet', () => {
  let page: Page;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let firstVisible: readonly string[];
  const elsewhere: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway({ store: createStoreModel(), config: { historyBackfillHours: 0, headPollMs: 200 } });
    const url = await gateway.app.listen(0, '127.0.0.1');
    page = await newPage({ viewport: DESKTOP });
    // The page would start without the answer of a busy gateway, and its tabs have variables from that.
    await page.addInitScript(() => {
      AbortSignal.timeout = () => new AbortController().signal;
    });
    await page.route(/^https?:\/\/(?!127\.0\.0\.1)/, (route) => {
      elsewhere.push(route.request().url());
      return route.abort();
    });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(url);
    await tabButton('Prices').waitFor();
    firstVisible = (await visibleTabs()).all;
    await page.setViewportSize(DESKTOP);
  });

  afterAll(async () => {
    await page?.context().close();
    await gateway?.close();
    // No test has requested anything of another host.
    expect(elsewhere).toEqual([]);
  });

  const tabButton = (name: string) => page.locator('.graphiql-tab-button').getByText(name, { exact: true });
  const tabNames = () => page.locator('.graphiql-tab-button').allTextContents();
  const activeTab = () => page.locator('.graphiql-tab-active .graphiql-tab-button').textContent();
  const result = () => page.locator('.result-window');
  /** The tabs of which all is visible, by their titles: all of these, and the selected one if it is one of them. */
  const visibleTabs = () =>
    page.evaluate(() => {
      const isSeen = (tab: Element) => {
        const { left, right, top, bottom } = tab.getBoundingClientRect();
        const at = (x: number) => tab.contains(globalThis.document.elementFromPoint(x, (top + bottom) / 2));
        return at(left + 3) && at(right - 30) && tab.scrollWidth <= tab.clientWidth;
      };
      const seen = (selector: string) =>
        [...globalThis.document.querySelectorAll(selector)].filter(isSeen).map(({ textContent }) => textContent ?? '');
      return {
        all: seen('.graphiql-tab-button'),
        active: seen('.graphiql-tab-active .graphiql-tab-button'),
      };
    });
  const visibleActive = async () => (await visibleTabs()).active;
  const execute = () => page.locator('.graphiql-execute-button').click();

  /** The place of the selected tab, as it is stored. */
  const activeIndex = (of: Page) =>
    of.evaluate(() => JSON.parse(globalThis.localStorage.getItem('graphiql:tabState') ?? '{}').activeTabIndex);

  /** Makes the window as large as a phone for the rest of a test. */
  async function usePhone(): Promise<void> {
    onTestFinished(() => page.setViewportSize(DESKTOP));
    await page.setViewportSize({ width: 390, height: 844 });
  }

  /** A page of a browser that has not opened GraphiQL before, and the address of GraphiQL. */
  async function openNewcomer(): Promise<{ newcomer: Page; address: string }> {
    const newcomer = await newPage();
    onTestFinished(() => newcomer.context().close());
    return { newcomer, address: page.url().split('#')[0] ?? '' };
  }

  /** With the mouse, and held down for as long as a person does. */
  async function choose(tab: string): Promise<void> {
    await tabButton(tab).click({ delay: 80 });
    expect(await activeTab()).toBe(tab);
    // GraphiQL reads the operation of a tab after a click. Before that, it would run the one of the previous tab.
    const index = (await tabNames()).indexOf(tab);
    await expect.poll(() => activeIndex(page)).toBe(index);
  }

  test.each([
    ['Market', 'cumulativeQuantity'],
    ['Swap', 'minimumReceived'],
    ['Past', '@1639910'],
    ['Prices', 'exactPrice'],
  ])('one click selects the tab %s, and another runs it', async (tab, field) => {
    await choose(tab);
    await execute();
    await result().getByText(field).first().waitFor();
  });

  test('the title shows that it is the sandbox', async () => {
    expect(await page.title()).toBe('pdex-gateway (sandbox)');
  });

  test('each result shows what its operation costs', async () => {
    await choose('Prices');
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await execute();
    expect((await (await answered).json()).extensions).toEqual({
      cost: { points: expect.any(Number), complexity: expect.any(Number), values: expect.any(Number) },
    });
  });

  test('live prices arrive over a websocket, height after height', async () => {
    await choose('Live');
    await execute();
    for (let block = 0; block < 3; block++) {
      await result().getByText(String(gateway.sandbox.chain.tip.height)).first().waitFor();
      gateway.sandbox.advance();
    }
    expect(gateway.app.service.sources.head.subscribers()).toBe(1);
    await execute();
    await expect.poll(() => gateway.app.service.sources.head.subscribers()).toBe(0);
  });

  /** The query and the variables of the address, once they are those of the tab. */
  const linkOf = async (browserPage: Page, name: string) => {
    const parameters = () => new URLSearchParams(new URL(browserPage.url()).hash.slice(1));
    await expect.poll(() => parameters().get('query') ?? '').toContain(name);
    return Object.fromEntries(parameters());
  };

  test('the address is a link to the query of the tab, with its variables', async () => {
    await choose('Past');
    const { query, variables = '{}' } = await linkOf(page, 'Past');
    expect(query).toBe(TABS.find(({ name }) => name === 'Past')?.query);
    expect(Object.keys(JSON.parse(variables))).toEqual(['interval', 'height', 'time']);
    // An edit changes it too.
    await choose('Prices');
    await page.locator('.graphiql-query-editor .view-line').first().click();
    await page.keyboard.press('Home');
    await page.keyboard.type('# Mine. ');
    await expect
      .poll(() => linkOf(page, 'Prices'))
      .toMatchObject({ query: expect.stringMatching(/^# Mine\. # Prices/) });
  });

  test('a link with a query and variables opens them in a tab, once; with “#run”, it runs the query at once; a reload shows the same tabs, and runs nothing', async () => {
    const query = 'query Linked($height: BeaconHeight) { poolPairs(first: 1, at: $height) { nodes { id } } }';
    const link = toParameters({ query, variables: '{"height":1639950}' });
    const variables = '{\n  "height": 1639950\n}';
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.postData() ?? ''));
    const runs = () => sent.filter((body) => body.includes('query Linked')).length;
    const before = await tabNames();
    const [address] = page.url().split('#');
    // With “#”, as the address of a tab, which servers do not get.
    await page.goto(`${address}#${link}`);
    await tabButton('Linked').waitFor();
    await expect.poll(() => linkOf(page, 'Linked')).toEqual({ query, variables });
    await page.locator('.view-line').getByText('1639950').first().waitFor();
    expect([await activeTab(), await tabNames(), runs()]).toEqual(['Linked', [...before, 'Linked'], 0]);
    // With “?”, as other programs write it.
    await page.goto(`${address}?${link}#run`);
    await result().getByText('@1639950').first().waitFor();
    expect(await linkOf(page, 'Linked')).toEqual({ query, variables });
    expect(new URL(page.url()).search).toBe('');
    expect([await activeTab(), await tabNames(), runs()]).toEqual(['Linked', [...before, 'Linked'], 1]);

    // The selected tab is neither the first nor the last.
    await page.locator('.graphiql-tab-add').click();
    await choose('Linked');
    const names = await tabNames();
    expect(names).toEqual([...before, 'Linked', '<untitled>']);
    // Not as GraphiQL would write them.
    await page.locator('.graphiql-editor-tool .view-lines:visible').click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.insertText(' ');
    await expect.poll(() => linkOf(page, 'Linked')).toEqual({ query, variables: `${variables} ` });
    // GraphiQL stores its tabs a moment after the last change.
    const stored = () =>
      page.evaluate(() => {
        const { tabs, activeTabIndex } = JSON.parse(globalThis.localStorage.getItem('graphiql:tabState') ?? '{}');
        const titles: string[] | undefined = tabs?.map(({ title }: { title: string }) => title);
        return [titles?.[activeTabIndex], tabs?.[activeTabIndex]?.variables, titles];
      });
    await expect.poll(stored).toEqual(['Linked', `${variables} `, names]);
    await usePhone();
    await page.reload();
    await tabButton('Linked').waitFor();
    expect([await activeTab(), await tabNames()]).toEqual(['Linked', names]);
    await expect.poll(visibleActive).toEqual(['Linked']);
    await page.setViewportSize(DESKTOP);
    await page.locator('.view-line').getByText('Linked').first().waitFor();
    await execute();
    await result().getByText('@1639950').first().waitFor();
    expect(runs()).toBe(2);
  });

  test('a newcomer can see all tabs on a desktop', () => {
    expect(firstVisible).toEqual(TABS.map(({ name }) => name));
  });

  test('on a phone, the chosen tab is in view', async () => {
    await usePhone();
    await page.locator('.graphiql-tab-add').click();
    await expect.poll(visibleActive).toEqual(['<untitled>']);
    const first = TABS[0]?.name ?? '';
    await tabButton(first).click();
    await expect.poll(visibleActive).toEqual([first]);
  });

  test('a link that is pasted just before the page writes that of a chosen tab is opened, in view on a phone', async () => {
    await choose('Prices');
    await linkOf(page, 'Prices');
    await usePhone();
    // What the page does if its timer ends before the browser reports the pasted link.
    await page.evaluate(
      (link) => {
        const ofTab = globalThis.location.hash;
        globalThis.location.hash = link;
        globalThis.history.replaceState(null, '', ofTab);
      },
      `#${toParameters({ query: 'query Shared { beaconHeight }' })}`,
    );
    await page.locator('.graphiql-tab-active').getByText('Shared', { exact: true }).waitFor();
    await expect.poll(visibleActive).toEqual(['Shared']);
  });

  test('a link opens and runs its query for a new visitor, in addition to the tabs; one opens where the storage is full', async () => {
    const { newcomer, address } = await openNewcomer();
    const query = 'query Linked { beaconHeight }';
    await newcomer.goto(`${address}?query=${encodeURIComponent(query)}#run`);
    const tabs = newcomer.locator('.graphiql-tab-button');
    const active = newcomer.locator('.graphiql-tab-active .graphiql-tab-button');
    await tabs.getByText('Linked', { exact: true }).waitFor();
    const names = ['Linked', ...TABS.map(({ name }) => name)];
    expect(await tabs.allTextContents()).toEqual(names);
    expect(await active.textContent()).toBe('Linked');
    await newcomer.locator('.result-window').getByText('beaconHeight').first().waitFor();

    await tabs.getByText('Live', { exact: true }).click();
    await expect.poll(() => activeIndex(newcomer)).toBe(names.indexOf('Live'));
    await newcomer.addInitScript(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
    });
    await newcomer.goto(`${address}?query=${encodeURIComponent('query Full { beaconHeight }')}#docs`);
    await tabs.getByText('Full', { exact: true }).waitFor();
    expect(await active.textContent()).toBe('Full');
  });

  test('opens with its tabs where the browser blocks the storage', async () => {
    const { newcomer: blocked, address } = await openNewcomer();
    await blocked.addInitScript(denyStorage);
    await blocked.goto(`${address}#docs`);
    const tabs = blocked.locator('.graphiql-tab-button');
    await tabs.getByText('Prices', { exact: true }).waitFor();
    expect(await tabs.allTextContents()).toEqual(TABS.map(({ name }) => name));
    await blocked.locator('.graphiql-execute-button').click();
    await blocked.locator('.result-window').getByText('exactPrice').first().waitFor();
  });

  test('the docs panel begins with the description of the endpoint', async () => {
    await page.getByLabel('Show Documentation Explorer').click();
    const docs = page.locator('.graphiql-doc-explorer');
    await docs.getByText('market-data host').first().waitFor();
    await docs.getByText('Query', { exact: true }).first().click();
    await page.getByText('All queries. Each response des').first().waitFor();
  });
});
