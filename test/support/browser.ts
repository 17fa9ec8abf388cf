import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Chromium, if it is installed. Its headless shell cannot show windows, and tests take a third less CPU time in it. */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));

/** Whether tests in a browser can run on this machine. */
export const hasBrowser = CHROMIUM !== undefined;

let browser: Promise<Browser> | undefined;

/** The browser of this worker, without a window. It ends with the worker. */
export function sharedBrowser(): Promise<Browser> {
  browser ??= launch();
  return browser;
}

/** Opens a page in a context of its own, which whoever calls this closes. Its pages, also later ones, have the same time limit. */
export async function newPage(options?: BrowserContextOptions): Promise<Page> {
  const context = await (await sharedBrowser()).newContext(options);
  // Only for what hangs: below the limit of a test, which would not say what is missing.
  context.setDefaultTimeout(240_000);
  return context.newPage();
}

function launch(): Promise<Browser> {
  // It requests nothing by itself.
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];
  // Nor can a page request anything from elsewhere.
  const local = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'];
  // A page of a test lives for seconds: to optimise its code takes a fifth of the browser's CPU time, and gains nothing.
  const unoptimised = '--js-flags=--no-opt --no-maglev';
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', unoptimised, ...quiet, ...local];
  return chromium.launch({ ...(CHROMIUM && { executablePath: CHROMIUM }), args });
}
