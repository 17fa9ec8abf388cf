import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTest } from '../support/gateway.ts';

test('a request keeps its id, and gets one if it has none that can be logged', async () => {
  const { app } = await startGatewayForTest();
  const url = `${await app.listen(0, '127.0.0.1')}?query={service{version}}`;
  const idOf = async (headers: Record<string, string>) => (await fetch(url, { headers })).headers.get('x-request-id');
  expect(await idOf({ 'x-request-id': 'from-the-proxy/7' })).toBe('from-the-proxy/7');
  expect(await idOf({ 'x-request-id': 'x'.repeat(128) })).toBe('x'.repeat(128));
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  expect(await idOf({})).toMatch(uuid);
  expect(await idOf({ 'x-request-id': 'two words' })).toMatch(uuid);
  expect(await idOf({ 'x-request-id': 'x'.repeat(129) })).toMatch(uuid);
});

test('the response to an upgrade has its id, whether a websocket is opened or refused', async () => {
  const { app } = await startGatewayForTest({ config: { corsOrigins: ['https://listed.example'] } });
  const url = (await app.listen(0, '127.0.0.1')).replace('http', 'ws');
  const headersWith = async (origin: string) => {
    const headers = { origin, 'x-request-id': 'from-the-proxy/7' };
    const socket = new WebSocket(url, 'graphql-transport-ws', { headers });
    const opened = once(socket, 'upgrade').then(([response]) => response);
    const refused = once(socket, 'unexpected-response').then(([, response]) => response);
    const response: IncomingMessage = await Promise.race([opened, refused]);
    socket.on('error', () => {}).terminate();
    return [response.statusCode, response.headers['x-request-id'], response.headers['x-pdex-sandbox']];
  };
  expect(await headersWith('https://listed.example')).toEqual([101, 'from-the-proxy/7', 'true']);
  expect(await headersWith('https://other.example')).toEqual([403, 'from-the-proxy/7', 'true']);
});
