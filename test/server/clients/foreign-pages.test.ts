import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, newPage } from '../../support/browser.ts';
import { startGatewayForTest } from '../../support/gateway.ts';
import { sumOf } from '../../support/metrics.ts';

/** Requests that a page can send without a preflight, each as a script of the page. The last one leaves the page. */
const WAYS: Readonly<Record<string, string>> = {
  'an image': 'new Image().src = GET',
  'a script': 'add("script", { src: GET })',
  'a style sheet': 'add("link", { rel: "stylesheet", href: GET })',
  'a prefetched link': 'add("link", { rel: "prefetch", href: GET })',
  'a frame': 'add("iframe", { src: GET })',
  'a video': 'add("video", { src: GET, preload: "auto" })',
  'a GET by fetch': 'fetch(GET).catch(() => {})',
  'a GET by fetch that wants no answer': 'fetch(GET, { mode: "no-cors", referrerPolicy: "no-referrer" })',
  'a POST by fetch that wants no answer': 'fetch(URL, { method: "POST", mode: "no-cors", body: BODY })',
  'a beacon': 'navigator.sendBeacon(URL, BODY)',
  'an event stream': 'new EventSource(GET)',
  'a websocket': `new Promise((refused, opened) => {
    const socket = new WebSocket(URL.replace("http", "ws"), "graphql-transport-ws");
    socket.onerror = () => refused();
    socket.onopen = () => opened(new Error("it was opened"));
  })`,
  'a form that is posted': 'add("form", { method: "POST", action: URL, enctype: "text/plain" }).submit()',
};

// Without Chromium these tests are skipped. CI installs it, and fails if it is missing.
test.runIf(process.env['CI'])('CI has a browser', () => expect(hasBrowser).toBe(true));

describe.skipIf(!hasBrowser)('a page of another origin in a browser', () => {
  /** Serves an empty page. @returns its port */
  async function servePage(): Promise<number> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>elsewhere</title><body>');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  }

  async function open(corsOrigins: (port: number) => readonly string[]) {
    const port = await servePage();
    const { app } = await startGatewayForTest({
      config: { corsOrigins: corsOrigins(port) },
      // With simulated data, pages of this computer are allowed.
      isSandbox: false,
    });
    const url = await app.listen(0, '127.0.0.1');
    const read = async (name: string, labels: Readonly<Record<string, string>>) =>
      sumOf(await (await fetch(new URL('/metrics', url))).text(), name, labels);

    async function openPage(host: string): Promise<(script: string) => Promise<void>> {
      const page = await newPage();
      onTestFinished(() => page.context().close());
      await page.goto(`http://${host}:${port}/`);
      return (script) =>
        page.evaluate(`(() => {
          const URL = ${JSON.stringify(url)};
          const GET = URL + "?query={service{version}}";
          const BODY = '{"query":"{service{version}}"}';
          const add = (name, given) => document.body.appendChild(Object.assign(document.createElement(name), given));
          const result = ${script};
          return result instanceof Promise ? result.then(() => {}) : undefined;
        })()`);
    }
    return { openPage, read };
  }

  test('cannot execute an operation by any request without a preflight', async () => {
    const { openPage, read } = await open(() => []);
    const refused = () => read('pdex_http_requests_total', { endpoint: 'graphql', status: '403' });
    // Another port of the same host is of the same site, and another name of the machine is of another.
    for (const host of ['127.0.0.1', 'localhost']) {
      const run = await openPage(host);
      for (const [name, script] of Object.entries(WAYS)) {
        const before = await refused();
        await run(script);
        // Refused websockets are not counted there. The page has checked them.
        if (name !== 'a websocket') await expect.poll(refused, { message: name }).toBeGreaterThan(before);
      }
    }
    expect(await read('pdex_query_responses_total', {})).toBe(0);
    expect(await read('pdex_operations_total', {})).toBe(0);
    expect(await read('pdex_http_requests_total', { endpoint: 'graphql', status: '200' })).toBe(0);
  });

  test('can if its origin is listed', async () => {
    const { openPage, read } = await open((port) => [`http://localhost:${port}`]);
    const run = await openPage('localhost');
    for (const way of ['a GET by fetch', 'an event stream']) await run(WAYS[way] ?? '');
    await expect.poll(() => read('pdex_operations_total', { type: 'query', outcome: 'whole' })).toBeGreaterThan(1);
  });
});
