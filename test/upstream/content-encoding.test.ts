import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';
import type { HttpClientOptions } from '../../src/upstream/http.ts';
import { httpForTest, nodeAt, textReader } from './connect.ts';
import { failureOf } from './failure.ts';

/** A host that answers as the listener does. */
async function hostOf(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), connections };
}

/** What becomes of these bytes with this `Content-Encoding`. */
async function read(
  encoding: string,
  body: Buffer,
  { status = 200, ...options }: Partial<HttpClientOptions> & { status?: number } = {},
) {
  const { url, connections } = await hostOf((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': encoding }).end(body);
  });
  const bytes: number[] = [];
  const http = httpForTest('NODE', { onRead: (count) => void bytes.push(count), ...options });
  return { answer: http.request({ url }, textReader()), bytes, connections };
}

const badShape = (misfit: string) => ({
  code: 'UPSTREAM_BAD_SHAPE',
  retryable: true,
  message: `The node sent an invalid response: ${misfit}.`,
  extensions: { upstream: 'NODE' },
});

const TEXT = `{"a":"${'é'.repeat(100_000)}"}`;

describe('a compressed body', () => {
  test.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (text: string) => Buffer.from(text)],
  ])('is read: %s', async (encoding, compress) => {
    const { answer, bytes } = await read(encoding, compress(TEXT));
    expect(await answer).toBe(TEXT);
    expect(bytes).toEqual([Buffer.byteLength(TEXT)]);
  });

  test('is read with a bad status', async () => {
    const { answer } = await read('gzip', gzipSync('{"message":"no"}'), { status: 404 });
    await expect(answer).rejects.toMatchObject({ code: 'UPSTREAM_BAD_STATUS', body: '{"message":"no"}' });
  });

  test('of the sandbox is the same response', async () => {
    const sandbox = await createSandboxHosts({ seed: 7, startTime: 1_795_176_000, history: 5 });
    onTestFinished(sandbox.close);
    const { client } = nodeAt(sandbox.nodeUrl);
    const { height } = await client.beaconTip();
    const plain = await client.newestStateV1(height);
    sandbox.node.faults.set({ kind: 'compressed', ifAsked: true });
    expect(await nodeAt(sandbox.nodeUrl).client.newestStateV1(height)).toEqual(plain);
  });

  test('that is damaged is an error', async () => {
    const damaged = gzipSync(TEXT);
    damaged.fill(0xff, 20);
    const { answer } = await read('gzip', damaged);
    expect(await failureOf(answer)).toEqual(badShape('it cannot be decompressed'));
  });

  test('that is not compressed is an error', async () => {
    const { answer } = await read('gzip', Buffer.from('{}'));
    expect(await failureOf(answer)).toEqual(badShape('it cannot be decompressed'));
  });

  test('that ends too early is an error', async () => {
    const { answer } = await read('gzip', gzipSync(TEXT).subarray(0, -20));
    expect(await failureOf(answer)).toEqual(badShape('it cannot be decompressed'));
  });

  test.each(['zstd', 'compress', 'gzip, gzip', '__proto__'])(
    'in an unknown encoding is an error: %s',
    async (encoding) => {
      const { answer, connections } = await read(encoding, Buffer.alloc(1_000_000));
      expect(await failureOf(answer)).toEqual(badShape('its Content-Encoding is not supported'));
      await expect.poll(connections).toBe(0);
    },
  );

  test('that cannot be read matters less than a bad status', async () => {
    const { answer } = await read('zstd', Buffer.alloc(10), { status: 503 });
    expect(await failureOf(answer)).toMatchObject({ code: 'UPSTREAM_BAD_STATUS' });
  });

  test('whose connection breaks is an upstream that cannot be reached', async () => {
    const { url } = await hostOf((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': 10_000 });
      response.write(gzipSync(TEXT).subarray(0, 50), () => response.destroy());
    });
    const failure = await failureOf(httpForTest('NODE').request({ url }, textReader()));
    expect(failure).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
  });

  test('that never ends fails with the timeout', async () => {
    const { url, connections } = await hostOf((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(gzipSync(TEXT).subarray(0, 50));
    });
    const http = httpForTest('NODE', { timeoutMs: 60 });
    expect(await failureOf(http.request({ url }, textReader()))).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    await expect.poll(connections).toBe(0);
  });
});

test('a small body that is large when decompressed is not read beyond the maximum size', async () => {
  let sent = 0;
  const { url, connections } = await hostOf((_, response) => {
    const gzip = createGzip();
    gzip.on('data', (chunk: Buffer) => {
      sent += chunk.length;
      response.write(chunk);
    });
    response.writeHead(200, { 'content-encoding': 'gzip' }).once('close', () => gzip.destroy());
    const zeros = Buffer.alloc(1 << 20);
    const more = () => void (gzip.destroyed || gzip.write(zeros, () => setImmediate(more)));
    more();
  });
  let written = 0;
  const write = (chunk: Buffer) => {
    written += chunk.length;
  };
  const maxBytes = 8 * 2 ** 20;
  const failure = await failureOf(httpForTest('NODE', { maxBytes }).request({ url }, { write, end: () => undefined }));
  expect(failure).toEqual(badShape(`more than ${maxBytes} bytes`));
  expect(written).toBeLessThanOrEqual(maxBytes);
  await expect.poll(connections).toBe(0);
  expect(sent).toBeLessThan(maxBytes);
});
