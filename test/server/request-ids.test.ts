import { expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';

test('a request keeps its id, and gets one if it has none that can be logged', async () => {
  const { app } = await startGatewayForTest();
  const url = `${await app.listen(0, '127.0.0.1')}?query={service{version}}`;
  const idOf = async (headers: Record<string, string>) => (await fetch(url, { headers })).headers.get('x-request-id');
  expect(await idOf({ 'x-request-id': 'from-the-proxy/7' })).toBe('from-the-proxy/7');
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  expect(await idOf({})).toMatch(uuid);
  expect(await idOf({ 'x-request-id': 'two words' })).toMatch(uuid);
  expect(await idOf({ 'x-request-id': 'x'.repeat(129) })).toMatch(uuid);
});
