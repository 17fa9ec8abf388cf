import { buildSchema, printSchema } from 'graphql';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graphql/schema.ts';
import { startGatewayForTest } from '../../support/gateway.ts';

async function open() {
  const { app } = await startGatewayForTest();
  return new URL('/schema.graphql', await app.listen(0, '127.0.0.1'));
}

test('the schema is plain text, complete with its descriptions', async () => {
  const { headers, body } = await request(await open());
  const text = await body.text();
  expect(headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-cache',
  });
  expect(printSchema(buildSchema(text))).toBe(printSchema(schema));
});

test('HEAD has the headers of GET', async () => {
  const url = await open();
  const headersOf = async (method: 'GET' | 'HEAD') => {
    const { headers, body } = await request(url, { method });
    const { date: _, 'x-request-id': __, connection: ___, 'keep-alive': ____, ...others } = headers;
    return { others, isEmpty: (await body.text()) === '' };
  };
  const { others } = await headersOf('GET');
  expect(await headersOf('HEAD')).toEqual({ others, isEmpty: true });
});

test('a client that already has the schema gets 304', async () => {
  const url = await open();
  const { headers, body } = await request(url);
  await body.dump();
  const etag = String(headers['etag']);
  const again = await request(url, { headers: { 'if-none-match': `"other", W/${etag}` } });
  expect([again.statusCode, again.headers['etag'], await again.body.text()]).toEqual([304, etag, '']);
  const other = await request(url, { headers: { 'if-none-match': '"other"' } });
  await other.body.dump();
  expect(other.statusCode).toBe(200);
});
