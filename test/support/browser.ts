import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Whether tests in a browser can run on this machine. */
export const hasBrowser = existsSync(CHROMIUM);

/** Starts a browser without a window. Whoever starts it closes it. */
export function launchBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
  return chromium.launch({ executablePath: CHROMIUM, args });
}
