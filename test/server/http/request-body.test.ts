import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readRequestBody } from '../../../src/server/http/request-body.ts';
import { collectGarbage } from '../../support/garbage.ts';

test('a body in chunks of one byte is read completely, and its chunks are not kept until its end', async () => {
  const request = Object.assign(new PassThrough(), { headers: {} });
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  readRequestBody(request as unknown as IncomingMessage, undefined, 10_000, resolve);
  const chunks: WeakRef<Buffer>[] = [];
  const text = '0123456789'.repeat(500);
  for (const character of text) {
    const chunk = Buffer.from(character);
    chunks.push(new WeakRef(chunk));
    request.emit('data', chunk);
  }
  await turn();
  collectGarbage();
  expect(chunks.filter((chunk) => chunk.deref() !== undefined).length).toBeLessThan(1_100);
  request.emit('end');
  expect(String(await promise)).toBe(text);
});
