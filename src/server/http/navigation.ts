import type { IncomingMessage } from 'node:http';

/**
 * Whether a browser opens this URL in a tab or window. The response is a page then, and no operation is executed, whatever the
 * URL contains. A frame of another page is not a tab: it is handled like any other request of that page.
 *
 * Browsers send `Sec-Fetch-Mode` and `Sec-Fetch-Dest`, but only to HTTPS and to this machine. Without them `Accept` decides:
 * browsers put `text/html` first.
 */
export function isNavigation({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination = 'document' } = headers;
  if (mode === undefined) return HTML_FIRST.test(headers.accept ?? '');
  return mode === 'navigate' && destination === 'document';
}

const HTML_FIRST = /^\s*text\/html\b(?!\s*;\s*q=0)/i;
