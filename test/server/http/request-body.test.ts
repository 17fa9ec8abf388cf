import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readRequestBody } from '../../../src/server/http/request-body.ts';
import { untilCollected } from '../../support/garbage.ts';

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
  await untilCollected(chunks, 1_100);
  request.emit('end');
  expect(String(await promise)).toBe(text);
});

function createRequest(
  maxBytes: number,
  onBody: (body: Buffer | undefined) => void,
  headers = {},
  before: Buffer | undefined = undefined,
) {
  const request = Object.assign(new PassThrough({ highWaterMark: 2 ** 20 }), { headers });
  readRequestBody(request as unknown as IncomingMessage, before, maxBytes, onBody);
  return request;
}

test.each([
  ['in chunks', {}, undefined],
  ['with its length', { 'content-length': '10' }, undefined],
  ['that other code has read', {}, Buffer.alloc(10)],
])('a body of exactly the maximum is read: %s', (_, headers, before) => {
  const bodies: (Buffer | undefined)[] = [];
  const request = createRequest(10, (body) => bodies.push(body), headers, before);
  for (let n = 0; n < 2; n++) request.emit('data', Buffer.alloc(5));
  if (before === undefined) request.emit('end');
  expect(bodies).toEqual([Buffer.alloc(10)]);
});

test('few of the chunks that arrive at once are read in one turn of the event loop', async () => {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const request = createRequest(10_000, resolve);
  let thisTurn = 0;
  let most = 0;
  request.on('data', () => {
    if (thisTurn === 0)
      setImmediate(() => {
        thisTurn = 0;
      });
    thisTurn += 1;
    most = Math.max(most, thisTurn);
  });
  const text = '0123456789'.repeat(500);
  for (const character of text) request.write(character);
  request.end();
  expect(String(await promise)).toBe(text);
  expect(most).toBeLessThan(2_100);
});

test.each([
  ['goes on sending a body that is too large is disconnected when it may have read why', false, {}],
  ['goes on sending a body whose length it has sent is too', false, { 'content-length': '18' }],
  ['has sent all of it is not', true, {}],
  ['has sent all of it, and its length, is not', true, { 'content-length': '18' }],
])('a client that %s', (_, hasEnded, headers) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const bodies: (Buffer | undefined)[] = [];
  const request = createRequest(10, (body) => bodies.push(body), headers);
  for (let n = 0; n < 3; n++) request.emit('data', Buffer.alloc(6));
  if (hasEnded) request.emit('end');
  vi.advanceTimersByTime(999);
  expect([bodies, request.destroyed]).toEqual([[undefined], false]);
  vi.advanceTimersByTime(1);
  expect([bodies, request.destroyed]).toEqual([[undefined], !hasEnded]);
});
