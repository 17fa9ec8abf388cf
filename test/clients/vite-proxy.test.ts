import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { createServer } from 'vite';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { sampleUnder } from '../support/doc-pages.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';

/** Where the configuration finds Vite. */
const PACKAGES = join(import.meta.dirname, '../../node_modules');

/** Starts the development server with the configuration of docs/frontend.md. @returns its origin */
async function startVite(gateway: string): Promise<string> {
  const root = mkdtempSync(join(PACKAGES, '.vite-proxy-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const configFile = join(root, 'vite.config.ts');
  const sample = sampleUnder('docs/frontend.md', 'Where the page comes from', 'ts');
  writeFileSync(configFile, sample.replace('http://127.0.0.1:4000', gateway));
  const vite = await createServer({ root, configFile, logLevel: 'error', server: { host: '127.0.0.1', port: 0 } });
  onTestFinished(() => vite.close());
  await vite.listen();
  return new URL(vite.resolvedUrls?.local[0] ?? '').origin;
}

test('behind the development server of Vite, a page sends queries, and opens event streams and websockets', async () => {
  const { url, sandbox } = await serveGatewayForTest();
  const { height } = sandbox.chain.tip;
  const origin = await startVite(new URL(url).origin);
  const headers = { origin, 'content-type': 'application/json' };

  const body = JSON.stringify({ query: '{ beaconHeight }' });
  const answer = await fetch(`${origin}/graphql`, { method: 'POST', headers, body });
  expect(await answer.json()).toEqual({ data: { beaconHeight: height } });

  const query = encodeURIComponent('subscription { head { beaconHeight } }');
  const stopped = new AbortController();
  const accept = { ...headers, accept: 'text/event-stream' };
  const events = await fetch(`${origin}/graphql?query=${query}`, { headers: accept, signal: stopped.signal });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of events.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('data: {')) break;
  }
  stopped.abort();
  expect(text).toContain(`data: {"data":{"head":{"beaconHeight":${height}}}}`);

  class PageSocket extends WebSocket {
    constructor(address: string, protocols: string | string[]) {
      super(address, protocols, { origin });
    }
  }
  const client = createClient({
    url: `${origin.replace('http', 'ws')}/graphql`,
    webSocketImpl: PageSocket,
    retryAttempts: 0,
  });
  onTestFinished(() => client.dispose());
  const heights = client.iterate({ query: 'subscription { head { beaconHeight } }' });
  expect((await heights.next()).value).toEqual({ data: { head: { beaconHeight: height } } });
});
