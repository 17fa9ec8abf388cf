import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, launchBrowser } from './browser.ts';
import { readBuiltExplorer } from './explorer-build.ts';
import type { TestGatewayOptions } from './gateway.ts';
import { type ServedGateway, serveGatewayForTest } from './served-gateway.ts';

/** Sizes of windows: the smallest phone that the explorer is made for, and a desktop. */
export const VIEWPORTS = { phone: { width: 360, height: 740 }, wide: { width: 1440, height: 900 } } as const;

/** How a page is opened. */
export type OpenOptions = {
  /** The gateway of a page that is open already; by default, the page gets one of its own. */
  readonly gateway?: ServedGateway;
  /** How that one is started. Its history is off, unless there is a `store`. */
  readonly start?: TestGatewayOptions;
  /** `wide` by default. */
  readonly viewport?: keyof typeof VIEWPORTS;
  /** `light` by default. */
  readonly colorScheme?: 'light' | 'dark';
  readonly context?: BrowserContextOptions;
  /** Done before the page is loaded. */
  readonly before?: (page: Page, gateway: ServedGateway) => Promise<unknown>;
  /**
   * What the console may say. Any other error or warning, a page error and a request to another host fail the test, as does
   * a violation of the Content-Security-Policy.
   */
  readonly allowed?: readonly RegExp[];
};

/** A page of the explorer in a browser. It is closed when the test has finished. */
export type OpenedPage = { readonly page: Page; readonly gateway: ServedGateway };

/** The browser of a test file. */
export type ExplorerBrowser = {
  /** Opens a path of the explorer, and waits until its heading is there. */
  open(path: string, options?: OpenOptions): Promise<OpenedPage>;
};

/**
 * Describes tests in Chromium, with one browser for all of them. Where Chromium is missing, they are skipped. CI installs it, and
 * fails if it is missing.
 */
export function describeInBrowser(name: string, body: (browser: ExplorerBrowser) => void): void {
  test.runIf(process.env['CI'])('CI has a browser', () => expect(hasBrowser).toBe(true));
  const title = hasBrowser ? name : `${name} (skipped: Chromium is not installed)`;

  describe.skipIf(!hasBrowser)(title, () => {
    let browser: Browser;
    beforeAll(async () => {
      [browser] = await Promise.all([launchBrowser(), readBuiltExplorer()]);
    });
    afterAll(() => browser?.close());

    body({ open: (path, options) => openPage(browser, path, options) });
  });
}

async function openPage(browser: Browser, path: string, options: OpenOptions = {}): Promise<OpenedPage> {
  const { viewport = 'wide', colorScheme = 'light', allowed = [] } = options;
  const gateway =
    options.gateway ?? (await serveGatewayForTest({ ...options.start, explorer: await readBuiltExplorer() }));
  if (options.gateway === undefined && options.start?.without !== 'NODE') await gateway.untilReady().catch(() => {});

  const context = await browser.newContext({ viewport: VIEWPORTS[viewport], colorScheme, ...options.context });
  const problems: string[] = [];
  await context.route(/^https?:\/\/(?!127\.0\.0\.1[:/])/, (route) => {
    problems.push(`a request to ${route.request().url()}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => {
    if (!allowed.some((pattern) => pattern.test(error.message))) problems.push(String(error.stack ?? error));
  });
  page.on('console', (message) => {
    if (isProblem(message) && !allowed.some((pattern) => pattern.test(message.text()))) problems.push(message.text());
  });
  onTestFinished(async () => {
    await context.close();
    expect(problems).toEqual([]);
  });

  await options.before?.(page, gateway);
  await page.goto(new URL(path, gateway.url).href);
  await page.locator('h1').waitFor();
  return { page, gateway };
}

function isProblem(message: ConsoleMessage): boolean {
  return message.type() === 'error' || message.type() === 'warning';
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

/** What the sandbox has between two blocks when its start time is set. */
const BLOCK_MS = 40_000;

/** Waits until the page knows that height. */
export async function untilHeight(page: Page, height: number): Promise<void> {
  await page.locator(`footer [data-height="${height}"]`).waitFor();
}

/** Fails if axe finds something serious or critical on the page. */
export async function expectAccessible(page: Page): Promise<void> {
  // The page's own policy allows no script elements of others.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document);
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html }) => html) }));
  });
  expect(violations).toEqual([]);
}

const SCREENSHOTS = join(import.meta.dirname, '../explorer/screenshots');

/**
 * With `SCREENSHOTS=true`, writes a picture of the page into `test/explorer/screenshots/`, which git ignores, to look at it.
 * Without it, this does nothing.
 */
export async function screenshot(
  page: Page,
  name: string,
  options: { readonly fullPage?: boolean } = {},
): Promise<void> {
  if (process.env['SCREENSHOTS'] !== 'true') return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: options.fullPage ?? true });
}
