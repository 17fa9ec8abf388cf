import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTest } from '../../support/gateway.ts';

async function open(corsOrigins: readonly string[]) {
  const { app } = await startGatewayForTest({ config: { corsOrigins } });
  return app.listen(0, '127.0.0.1');
}

const query = '?query={service{version}}';

async function allowedOrigin(url: string, origin: string): Promise<string | null> {
  return (await fetch(url + query, { headers: { origin } })).headers.get('access-control-allow-origin');
}

async function upgrade(url: string, origin?: string): Promise<'open' | number> {
  const socket = new WebSocket(
    url.replace('http', 'ws'),
    'graphql-transport-ws',
    origin === undefined ? {} : { origin },
  );
  const refused = once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number);
  const outcome = await Promise.race([once(socket, 'open').then(() => 'open' as const), refused]);
  socket.on('error', () => {});
  socket.terminate();
  return outcome;
}

test("by default no other origin's pages may ask, over HTTP or websockets", async () => {
  const url = await open([]);
  expect(await allowedOrigin(url, 'https://elsewhere.example')).toBeNull();
  expect(await upgrade(url, 'https://elsewhere.example')).toBe(403);
  expect(await upgrade(url, 'null')).toBe(403);
  expect(await upgrade(url, new URL(url).origin)).toBe('open');
  expect(await upgrade(url)).toBe('open');
});

test('the origins on the list may, and no others', async () => {
  const url = await open(['https://app.example', 'http://localhost:3000']);
  expect(await allowedOrigin(url, 'https://app.example')).toBe('https://app.example');
  for (const origin of ['https://elsewhere.example', 'null', 'https://app.example.evil']) {
    expect(await allowedOrigin(url, origin)).toBeNull();
  }
  expect((await fetch(url + query, { headers: { origin: 'null' } })).headers.get('vary')).toMatch(/origin/i);
  expect(await upgrade(url, 'http://localhost:3000')).toBe('open');
  expect(await upgrade(url, 'http://localhost:3001')).toBe(403);

  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,apollographql-client-name',
    },
  });
  expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type,apollographql-client-name');
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
  expect(preflight.headers.get('access-control-allow-credentials')).not.toBe('true');
});

test('with * everyone may, without credentials', async () => {
  const url = await open(['*']);
  const { headers } = await fetch(url + query, { headers: { origin: 'https://elsewhere.example' } });
  expect(['*', 'https://elsewhere.example']).toContain(headers.get('access-control-allow-origin'));
  expect(headers.get('access-control-allow-credentials')).not.toBe('true');
  expect(await upgrade(url, 'https://elsewhere.example')).toBe('open');
});
