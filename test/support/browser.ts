import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Whether tests in a browser can run on this machine. */
export const hasBrowser = existsSync(CHROMIUM);

/** Starts a browser without a window. Whoever starts it closes it. */
export function launchBrowser(): Promise<Browser> {
  // It requests nothing by itself.
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', ...quiet];
  return chromium.launch({ executablePath: CHROMIUM, args });
}
