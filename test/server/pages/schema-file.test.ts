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
