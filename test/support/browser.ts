import { existsSync } from 'node:fs';
import { type Browser, type BrowserServer, chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Whether tests in a browser can run on this machine. */
export const hasBrowser = existsSync(CHROMIUM);

/** The browser of this worker, which runs many test files. It ends with the worker. */
let server: Promise<BrowserServer> | undefined;

/** A browser without a window, with pages of its own. Whoever starts it closes it. */
export async function launchBrowser(): Promise<Browser> {
  server ??= startServer();
  return chromium.connect((await server).wsEndpoint());
}

function startServer(): Promise<BrowserServer> {
  // It requests nothing by itself.
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];
  // Nor can a page request anything from elsewhere.
  const local = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'];
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', ...quiet, ...local];
  return chromium.launchServer({ executablePath: CHROMIUM, args, host: '127.0.0.1' });
}
