import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type axe from 'axe-core';
import type { BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, newPage, sharedBrowser } from './browser.ts';
import { readBuiltExplorer } from './explorer-build.ts';
import type { TestGatewayOptions } from './gateway.ts';
import { freePort } from './ports.ts';
import { type ServedGateway, serveGateway, serveGatewayForTest } from './served-gateway.ts';

/** Sizes of windows: the smallest phone that the explorer is made for, and a desktop. */
export const VIEWPORTS = { phone: { width: 360, height: 740 }, wide: { width: 1440, height: 900 } } as const;

/** How a page is opened. */
export type OpenOptions = {
  /** The gateway of a page that is open already, or of the whole file; by default, the page gets one of its own. */
  readonly gateway?: ServedGateway;
  /** How that one is started. Its history is off, unless there is a `store`. */
  readonly start?: TestGatewayOptions;
  /** `wide` by default. */
  readonly viewport?: keyof typeof VIEWPORTS;
  /** `light` by default. */
  readonly colorScheme?: 'light' | 'dark';
  /** `reduce` by default: frames of animations that nobody looks at take CPU time. */
  readonly reducedMotion?: 'reduce' | 'no-preference';
  readonly context?: BrowserContextOptions;
  /** Runs in each document before the scripts of the explorer. */
  readonly initScript?: () => void;
  /** Done before the page is loaded. Only routes and listeners end with the test, unless it has a `context` of its own. */
  readonly before?: (page: Page, gateway: ServedGateway) => Promise<unknown>;
  /**
   * What the console may say. Any other error or warning, a page error and a request to another host fail the test, as does
   * a violation of the Content-Security-Policy, and a text beside an element.
   */
  readonly allowed?: readonly RegExp[];
};

/** A page of the explorer in a browser. It is left when the test has finished. */
export type OpenedPage = { readonly page: Page; readonly gateway: ServedGateway };

/** The browser of a test file. */
export type ExplorerBrowser = {
  /**
   * Opens a path of the explorer, and waits until its heading is there. A test with `context` gets a page of its own, others one
   * that a test before it may have used: its storage is empty then, and its cache may have the files of the explorer.
   */
  open(path: string, options?: OpenOptions): Promise<OpenedPage>;
  /** Serves a gateway with the explorer for one test. */
  serve(start?: TestGatewayOptions): Promise<ServedGateway>;
  /**
   * Serves a gateway for the tests of the file that only read from it: none may make blocks or faults, or move the clock.
   *
   * @returns the gateway, for use in a test
   */
  share(start?: () => TestGatewayOptions): () => ServedGateway;
};

/** A page that the test before has left as it was. The first load of a new one takes more than a second of CPU time. */
let idle: Page | undefined;

/**
 * Describes tests in Chromium, with one browser for all of them. Where Chromium is missing, they are skipped. CI installs it, and
 * fails if it is missing.
 */
export function describeInBrowser(name: string, body: (browser: ExplorerBrowser) => void): void {
  test.runIf(process.env['CI'])('CI has a browser', () => expect(hasBrowser).toBe(true));
  const title = hasBrowser ? name : `${name} (skipped: Chromium is not installed)`;

  describe.skipIf(!hasBrowser)(title, () => {
    beforeAll(async () => {
      await Promise.all([sharedBrowser(), readBuiltExplorer()]);
    });
    body({ open: openPage, serve: serveExplorer, share: shareGateway });
  });
}

function shareGateway(start: () => TestGatewayOptions = () => ({})): () => ServedGateway {
  let gateway: Awaited<ReturnType<typeof serveGateway>> | undefined;
  beforeAll(async () => {
    gateway = await serveGateway(await withExplorer(start()));
    await gateway.untilReady();
  });
  afterAll(() => gateway?.close());
  return () => {
    if (gateway === undefined) throw new Error('the gateway is started before the first test');
    return gateway;
  };
}

/** Ports of gateways of earlier tests. At the same address, a page finds the files of the explorer in its cache, and compiled. */
const usedPorts: number[] = [];

async function serveExplorer(start: TestGatewayOptions = {}): Promise<ServedGateway> {
  const port = usedPorts.pop() ?? (await freePort());
  // After the gateway is closed: what is registered first is called last.
  onTestFinished(() => void usedPorts.push(port));
  const gateway = await serveGatewayForTest(await withExplorer(start), port);
  if (start.without !== 'NODE') await gateway.untilReady();
  return gateway;
}

/** The head is polled less often than in other tests: 20 polls a second take an eighth of a core while a test waits for the browser. */
async function withExplorer(start: TestGatewayOptions): Promise<TestGatewayOptions> {
  return { ...start, config: { headPollMs: 200, ...start.config }, explorer: await readBuiltExplorer() };
}

async function openPage(path: string, options: OpenOptions = {}): Promise<OpenedPage> {
  const { viewport = 'wide', colorScheme = 'light', reducedMotion = 'reduce', allowed = [] } = options;
  const gateway = options.gateway ?? (await serveExplorer(options.start));
  const page = await takePage(options.context);
  const initScript = options.initScript && (await page.addInitScript(options.initScript));
  const problems: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${new URL(gateway.url).origin}/`)) problems.push(`a request to ${request.url()}`);
  });
  page.on('pageerror', (error) => {
    if (!allowed.some((pattern) => pattern.test(error.message))) problems.push(String(error.stack ?? error));
  });
  page.on('console', (message) => {
    if (isProblem(message) && !allowed.some((pattern) => pattern.test(message.text()))) problems.push(message.text());
  });
  onTestFinished(async ({ task }) => {
    const hasFailed = task.result?.state === 'fail';
    if (hasFailed) console.error(await describePage(page));
    const isLikeNew = options.context === undefined && !hasFailed;
    const tabs = page.context().pages();
    await Promise.all(tabs.map((tab) => tab !== page && tab.close()));
    if (isLikeNew && idle === undefined) {
      await initScript?.dispose();
      await leave(page, gateway);
      idle = page;
    } else await page.context().close();
    expect(problems).toEqual([]);
  });

  await page.setViewportSize(VIEWPORTS[viewport]);
  await page.emulateMedia({ colorScheme, reducedMotion });
  await options.before?.(page, gateway);
  await page.goto(new URL(path, gateway.url).href);
  await page.locator('h1').waitFor();
  return { page, gateway };
}

/** What a page shows, for the log of a test that has failed. */
async function describePage(page: Page): Promise<string> {
  const scrollY = await page.evaluate(() => globalThis.scrollY);
  return `${page.url()}, scrolled to ${scrollY}:\n${await page.locator('body').ariaSnapshot()}`;
}

async function takePage(context: BrowserContextOptions | undefined): Promise<Page> {
  const page = idle;
  if (page !== undefined && context === undefined) {
    idle = undefined;
    return page;
  }
  const created = await newPage(context);
  await created.addInitScript(reportLooseTexts);
  return created;
}

/**
 * Writes each text to the console that React holds as a node of its own, because it is not the only child of an element. React
 * would go on to change and remove that node, which a translator of a browser has replaced by an element.
 */
function reportLooseTexts(): void {
  const report = (node: Node) => {
    if (node instanceof Text) {
      if (node.data.trim() !== '' && Object.keys(node).some((key) => key.startsWith('__react'))) {
        console.error(
          `a text that is not the only child of an element: “${node.data}” in ${node.parentElement?.outerHTML}`,
        );
      }
    } else for (const child of node.childNodes) report(child);
  };
  new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) report(node);
  }).observe(document, { childList: true, subtree: true });
}

/** Makes a page as it was. It stays at the origin of the gateway, which may be gone. */
async function leave(page: Page, { url }: ServedGateway): Promise<void> {
  page.removeAllListeners();
  await Promise.all([page, page.context()].map((routed) => routed.unrouteAll({ behavior: 'ignoreErrors' })));
  await page.mouse.move(0, 0);
  // The explorer stores where it was scrolled to when it is left. A page without an icon would request one.
  const empty = { contentType: 'text/html', body: '<link rel="icon" href="data:,">' };
  await page.route('**/left', (route) => route.fulfill(empty));
  await page.goto(new URL('/left', url).href);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await page.unrouteAll();
}

function isProblem(message: ConsoleMessage): boolean {
  return message.type() === 'error' || message.type() === 'warning';
}

/** For {@link OpenOptions.initScript}: as where a browser lets the page store nothing. */
export function denyStorage(): void {
  Object.defineProperty(globalThis, 'localStorage', {
    get() {
      throw new DOMException('denied', 'SecurityError');
    },
  });
}

/** Holds back the answers to the queries with that name, until the returned function is called. */
export async function holdAnswers(page: Page, operationName: string): Promise<() => void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/graphql', async (route) => {
    if (route.request().postData()?.includes(`"operationName":"${operationName}"`)) await released;
    await route.continue();
  });
  return release;
}

/** Makes blocks, moves the clock of the gateway by their times, and waits until the page shows the newest height. */
export async function advanceOnPage({ page, gateway }: OpenedPage, blocks = 1): Promise<number> {
  gateway.clock.now += blocks * BLOCK_MS;
  await gateway.advance(blocks);
  const { height } = gateway.sandbox.chain.tip;
  await untilHeight(page, height);
  return height;
}

/** Opens a page with a clock of its own, which a test can move. */
export const OWN_CLOCK = { context: {}, before: (page: Page) => page.clock.install() } as const;

/** Waits until the gateway knows that an upstream fails or responds, and moves {@link OWN_CLOCK} to when the page asks for it. */
export async function showStatus(
  { page, gateway }: OpenedPage,
  upstream: 'NODE' | 'MARKET_DATA',
  status: 'fails' | 'responds',
): Promise<void> {
  const data = upstream === 'NODE' ? 'head' : 'marketData';
  const isStale = async () => (await gateway.ask(`{ service { ${data} { stale } } }`)).data.service[data]?.stale;
  await expect.poll(isStale).toBe(status === 'fails');
  await page.clock.fastForward(SERVICE_REFRESH_MS);
}

/** How often a page asks the gateway for its status. */
const SERVICE_REFRESH_MS = 5_000;

/** What the sandbox has between two blocks when its start time is set. */
const BLOCK_MS = 40_000;

/** Waits until the page knows that height. */
export async function untilHeight(page: Page, height: number): Promise<void> {
  await page.locator(`footer [data-height="${height}"]`).waitFor();
}

/** The panel with that title. */
export const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** The query parameters of the URL that the browser shows. */
export const parametersOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Scrolls to the end of the page: at once, while a browser animates what a key does, and may drop it when it is busy. */
export async function scrollToEnd(page: Page): Promise<void> {
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
}

/** The code of axe, minified: each page that is checked loads it. */
const AXE = readFileSync(join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8');

/** Fails if axe finds something serious or critical on the page, by all of its rules or by some. */
export async function expectAccessible(page: Page, runOnly?: readonly string[]): Promise<void> {
  // The page's own policy allows no script elements of others.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const violations = await page.evaluate(
    async (rules) => {
      const run = (globalThis as unknown as { axe: typeof axe }).axe.run;
      // Requests nothing: the gateway may be gone.
      const { violations } = await run(document, { resultTypes: ['violations'], preload: false, ...rules });
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => html) }));
    },
    runOnly && { runOnly: [...runOnly] },
  );
  expect(violations).toEqual([]);
}

/**
 * Fails if the page is wider than a phone or a desktop, or not accessible there, light or dark. The screenshots are named after it,
 * such as `chain-phone-dark`.
 */
export async function expectToFit(page: Page, name: string, options: ScreenshotOptions = {}): Promise<void> {
  for (const viewport of ['phone', 'wide'] as const) {
    await expectNotWider(page, viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await screenshot(page, `${name}-${viewport}-${colorScheme}`, options);
      if (colorScheme === 'light') await expectAccessible(page);
      // Between light and dark, only colours differ, and these are the same in a window of any width.
      else if (viewport === 'wide') await expectAccessible(page, ['color-contrast', 'link-in-text-block']);
    }
  }
}

/** Makes the window as large as a phone or a desktop. Fails if the page is wider. */
export async function expectNotWider(page: Page, viewport: keyof typeof VIEWPORTS): Promise<void> {
  await page.setViewportSize(VIEWPORTS[viewport]);
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await expect.poll(width, { message: viewport }).toBe(VIEWPORTS[viewport].width);
}

type ScreenshotOptions = { readonly fullPage?: boolean };

const SCREENSHOTS = join(import.meta.dirname, '../explorer/screenshots');

/**
 * With `SCREENSHOTS=true`, writes a picture of the page into `test/explorer/screenshots/`, which git ignores, to look at it.
 * Without it, this does nothing.
 */
export async function screenshot(page: Page, name: string, options: ScreenshotOptions = {}): Promise<void> {
  if (process.env['SCREENSHOTS'] !== 'true') return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: options.fullPage ?? true });
}
