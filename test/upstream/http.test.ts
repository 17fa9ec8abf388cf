import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRedactor } from '../../src/logging/redact.ts';
import type { HttpFault } from '../../src/sandbox/faults.ts';
import { createSandboxHosts, type SandboxHosts } from '../../src/sandbox/sandbox.ts';
import type { HttpClientOptions, HttpRequest } from '../../src/upstream/http.ts';
import { createDocumentReader } from '../../src/upstream/json.ts';
import { createFilteredReader } from '../../src/upstream/json-filter.ts';
import { readArray } from '../../src/upstream/wire.ts';
import { httpForTest, textReader } from './connect.ts';
import { failureOf } from './failure.ts';
import { bytesOf, startRawServer } from './raw-server.ts';

/** A client of a node with time and room for everything, or as the options say. It reads each response as text. */
function clientOf(options: Partial<HttpClientOptions> = {}) {
  const { request, close } = httpForTest('NODE', { maxBytes: 2 ** 20, ...options });
  return { request: (asked: HttpRequest) => request(asked, textReader()), close };
}

const hasty: Partial<HttpClientOptions> = { timeoutMs: 60 };

/** A node with one fault, and a request that gets it. */
async function faultyNode(fault: HttpFault & { times?: number }) {
  const sandbox: SandboxHosts = await createSandboxHosts({ seed: 7, startTime: 1_795_176_000, history: 5 });
  onTestFinished(sandbox.close);
  sandbox.node.faults.set(fault);
  const body = JSON.stringify({ id: 1, jsonrpc: '1.0', method: 'getblockchaininfo', params: [] });
  return { node: sandbox.node, request: { url: new URL(sandbox.nodeUrl), body } };
}

const timeout = {
  code: 'UPSTREAM_TIMEOUT',
  retryable: true,
  message: 'The node did not respond within 60 ms.',
  extensions: { upstream: 'NODE' },
};
const unreachable = {
  code: 'UPSTREAM_UNREACHABLE',
  retryable: true,
  message: 'The node cannot be reached.',
  extensions: { upstream: 'NODE' },
};

describe('a request is sent', () => {
  test('with GET, or with POST and a body, and accepts compressed JSON', async () => {
    const { url, requests } = await startRawServer((socket) => socket.end(bytesOf('{}')));
    const client = clientOf();
    expect(await client.request({ url: new URL('/a/b?c=d%20e', url) })).toBe('{}');
    expect(await client.request({ url, body: '{"id":1}' })).toBe('{}');

    const head = `host: ${url.host}\r\nconnection: close\r\n`;
    expect(requests).toEqual([
      `GET /a/b?c=d%20e HTTP/1.1\r\n${head}accept: application/json\r\naccept-encoding: gzip\r\nuser-agent: pdex-gateway\r\n\r\n`,
      `POST / HTTP/1.1\r\n${head}accept: application/json\r\naccept-encoding: gzip\r\ncontent-type: application/json\r\nuser-agent: pdex-gateway\r\ncontent-length: 8\r\n\r\n{"id":1}`,
    ]);
  });

  test.each([
    ['http://someone:secret@', 'someone:secret'],
    ['http://some%40one:s%3Acr%C3%A9t@', 'some@one:s:crét'],
    ['http://someone@', 'someone:'],
    ['http://:secret@', ':secret'],
    ['http://someone:100%@', 'someone:100%'],
  ])('with the user and password of the URL: %s', async (prefix, credentials) => {
    const { url, requests } = await startRawServer((socket) => socket.end(bytesOf('{}')));
    expect(await clientOf().request({ url: new URL(`${prefix}${url.host}`) })).toBe('{}');
    const sent = /^authorization: Basic (.*)$/m.exec(requests[0] ?? '')?.[1];
    expect(Buffer.from(sent ?? '', 'base64').toString()).toBe(credentials);
  });

  test('with the configured headers, which override the user and password of the URL', async () => {
    const { url, requests } = await startRawServer((socket) => socket.end(bytesOf('{}')));
    const client = clientOf({ headers: { 'x-api-key': 'caf\u00e9', authorization: 'Bearer word' } });
    expect(await client.request({ url: new URL(`http://someone:secret@${url.host}`) })).toBe('{}');
    expect(await client.request({ url, body: '{}' })).toBe('{}');
    for (const request of requests) {
      expect(request).toContain('x-api-key: caf\u00e9\r\n');
      expect(request.match(/^authorization: .*$/gm)).toEqual(['authorization: Bearer word']);
    }
  });

  test('on a connection of its own each time, although the node would keep it', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}';
    const sockets = new Set<Socket>();
    const { url, requests } = await startRawServer((socket) => {
      sockets.add(socket);
      socket.write(answer);
    });
    const client = clientOf();
    for (let call = 0; call < 3; call++) await client.request({ url });
    expect([requests.length, sockets.size]).toEqual([3, 3]);
  });

  test('on the same connection again if connections are kept', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}';
    const sockets = new Set<Socket>();
    const { url, requests } = await startRawServer((socket) => {
      sockets.add(socket);
      socket.write(answer);
    });
    const client = clientOf({ keepAlive: true });
    for (let call = 0; call < 10; call++) await client.request({ url });
    expect(requests.length).toBe(10);
    expect(sockets.size).toBeLessThan(5);
  });
});

test('a host that does not use TLS is one that cannot be reached, with a hint for the log', async () => {
  const { request } = await faultyNode({ kind: 'hang' });
  const url = new URL(request.url);
  url.protocol = 'https:';
  const error = await clientOf()
    .request({ url })
    .catch((error) => error);
  const hint = 'the configured URL should perhaps begin with http://';
  expect(error).toMatchObject({ ...unreachable, details: { host: url.host, hint } });
});

describe('the timeout of a response', () => {
  test.each<HttpFault['kind']>(['hang', 'drip', 'endless'])('no longer than the deadline: %s', async (kind) => {
    const { request } = await faultyNode({ kind } as HttpFault);
    const client = clientOf({ ...hasty, maxBytes: 2 ** 40 });
    expect(await failureOf(client.request(request))).toEqual(timeout);
  });

  test('includes the retry after a reset', async () => {
    const { url, requests } = await startRawServer((socket, connection) => {
      if (connection === 1) socket.resetAndDestroy();
    });
    // Long enough to connect twice on a busy machine.
    const failure = await failureOf(clientOf({ timeoutMs: 1_000 }).request({ url }));
    expect(failure).toEqual({ ...timeout, message: 'The node did not respond within 1000 ms.' });
    expect(requests.length).toBe(2);
  });

  test('a slow response within the timeout is read completely', async () => {
    const { url } = await startRawServer((socket) => {
      const pieces = bytesOf('{"a":"é"}').split(/(?=")/);
      const send = () => {
        const piece = pieces.shift();
        if (piece === undefined) socket.end();
        else socket.write(piece, () => setImmediate(send));
      };
      send();
    });
    expect(await clientOf().request({ url })).toBe('{"a":"é"}');
  });
});

describe('the maximum size of a response', () => {
  const answers = () => startRawServer((socket) => socket.end(bytesOf('é'.repeat(500))));

  test('a response of exactly this size in bytes is read', async () => {
    const { url } = await answers();
    expect(await clientOf({ maxBytes: 1_000 }).request({ url })).toBe('é'.repeat(500));
  });

  test('one byte more is an error', async () => {
    const { url } = await answers();
    expect(await failureOf(clientOf({ maxBytes: 999 }).request({ url }))).toEqual({
      code: 'UPSTREAM_BAD_SHAPE',
      retryable: true,
      message: 'The node sent an invalid response: more than 999 bytes.',
      extensions: { upstream: 'NODE' },
    });
  });

  test('an endless response is not read further once it is too large', async () => {
    const { node, request } = await faultyNode({ kind: 'endless' });
    const failure = await failureOf(clientOf({ maxBytes: 200_000 }).request(request));
    expect(failure).toMatchObject({ code: 'UPSTREAM_BAD_SHAPE' });
    await expect.poll(() => node.openConnections()).toBe(0);
  });
});

describe('a response that is not read to its end', () => {
  /** A server that goes on and on after these bytes, and how many of its connections are open. */
  async function endless(begin: string) {
    const sockets = new Set<Socket>();
    const { url } = await startRawServer((socket) => {
      const more = 'x'.repeat(65_536);
      const send = () => socket.write(more, () => !socket.destroyed && setImmediate(send));
      sockets.add(socket.once('close', () => sockets.delete(socket)));
      socket.write(begin, send);
    });
    return { url, openConnections: () => sockets.size };
  }

  test.each([
    ['a bad status', bytesOf('no ', 'text/plain', '503 Status'), 'UPSTREAM_BAD_STATUS'],
    ['a page', bytesOf('<p>', 'text/html'), 'UPSTREAM_FILTERED'],
    ['a page that is said to be JSON', bytesOf(' <p>'), 'UPSTREAM_FILTERED'],
    ['what is no JSON', bytesOf('no '), 'UPSTREAM_BAD_SHAPE'],
  ])('endless %s', async (_, begin, code) => {
    const { url, openConnections } = await endless(begin);
    const http = httpForTest('NODE', { maxBytes: 2 ** 40 });
    const reader = createFilteredReader({ within: 'a', keep: [], maxBytes: 1_000 }, () => 'a value');
    const failure = await failureOf(http.request({ url }, reader));
    expect(failure).toMatchObject({ code });
    await expect.poll(openConnections).toBe(0);
  });
});

test.each(['{"a":1}', '\n [1]'])('JSON with the type of a page is not one: %j', async (body) => {
  const { url } = await startRawServer((socket) => socket.end(bytesOf(body, 'text/html; charset=utf-8')));
  expect(await clientOf().request({ url })).toBe(body);
});

describe('responses that are errors', () => {
  test.each([
    [200, 'text/html; charset=UTF-8', '<!DOCTYPE html><p>Just a moment…'],
    [403, 'text/html', '<html></html>'],
    [429, 'text/html', ''],
    [200, 'text/html', 'Access denied'],
    [200, 'application/json', '\n <html></html>'],
    [406, 'text/plain', '<html></html>'],
  ])('an HTML page with status %i of type %s is an error of a traffic filter', async (status, type, page) => {
    const { url } = await startRawServer((socket) => socket.end(bytesOf(page, type, `${status} Status`)));
    expect(await failureOf(clientOf().request({ url }))).toEqual({
      code: 'UPSTREAM_FILTERED',
      retryable: true,
      message: `The node is blocked by a traffic filter, which responded with HTTP status ${status}.`,
      extensions: { upstream: 'NODE' },
    });
  });

  test.each([
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [429, true],
    [500, true],
    [503, true],
    [520, true],
    [204, false],
    [304, false],
  ])('status %i without a page; retryable: %s', async (status, retryable) => {
    const { url } = await startRawServer((socket) => {
      socket.end(`HTTP/1.1 ${status} Status\r\nConnection: close\r\n\r\n`);
    });
    expect(await failureOf(clientOf().request({ url }))).toEqual({
      code: 'UPSTREAM_BAD_STATUS',
      retryable,
      message: `The node responded with HTTP status ${status}.`,
      extensions: { upstream: 'NODE' },
    });
  });

  test('the body of a bad status is kept for the caller and for the log', async () => {
    const { url } = await startRawServer((socket) => socket.end(bytesOf('no such', 'text/plain', '404 Not Found')));
    const address = new URL(`http://someone:secret@${url.host}/a?b=c`);
    await expect(clientOf().request({ url: address })).rejects.toMatchObject({
      status: 404,
      body: 'no such',
      details: { host: url.host, body: 'no such', hint: 'the path of the configured URL may be wrong' },
    });
  });

  test('the beginning of a response of the wrong shape is kept for the log', async () => {
    const { url } = await startRawServer((socket) => socket.end(bytesOf(`{"message":"no data${'.'.repeat(300)}"}`)));
    const reader = createDocumentReader(1_000, (document) => readArray(document, '$'));
    const failure = httpForTest('NODE').request({ url }, reader);
    await expect(failure).rejects.toMatchObject({
      message: 'The node sent an invalid response: expected an array at $.',
      details: { host: url.host, body: `{"message":"no data${'.'.repeat(181)}` },
    });
  });

  test.each(['200 OK', '500 Status'])('no part of a secret is kept for the log: %s', async (status) => {
    const secret = 'k'.repeat(490);
    const bodies = [`Bearer ${secret} `.repeat(3), `${'.'.repeat(190)} ${secret}`];
    const { url } = await startRawServer((socket) => socket.end(bytesOf(bodies.shift() ?? '', 'text/plain', status)));
    const http = httpForTest('NODE', { redact: createRedactor([{ text: secret }]) });
    for (const body of ['Bearer [redacted] Bearer [redacted]', `${'.'.repeat(190)} [redacted`]) {
      const reader = createDocumentReader(10_000, (document) => readArray(document, '$'));
      await expect(http.request({ url }, reader)).rejects.toMatchObject({ details: { body } });
    }
  });

  test('bytes that are not HTTP', async () => {
    const { url } = await startRawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    expect(await failureOf(clientOf().request({ url }))).toEqual(unreachable);
  });
});

describe('which requests are repeated', () => {
  test('one that was reset before the response began, once', async () => {
    const { node, request } = await faultyNode({ kind: 'reset', times: 1 });
    expect(JSON.parse(await clientOf().request(request))).toMatchObject({ Id: 1, Error: null });
    expect(node.calls()).toBe(2);
  });

  test('one whose connection was closed without a byte, once', async () => {
    const { url, requests } = await startRawServer((socket, connection) => {
      socket.end(connection === 1 ? '' : bytesOf('{}'));
    });
    expect(await clientOf().request({ url })).toBe('{}');
    expect(requests.length).toBe(2);
  });

  test('none a second time', async () => {
    const { node, request } = await faultyNode({ kind: 'reset' });
    expect(await failureOf(clientOf().request(request))).toEqual(unreachable);
    expect(node.calls()).toBe(2);
  });

  test('not one that was reset in the middle of its response', async () => {
    const { url, requests } = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":', () => socket.resetAndDestroy());
    });
    expect(await failureOf(clientOf().request({ url }))).toEqual(unreachable);
    expect(requests.length).toBe(1);
  });

  test('not one with half a response of unknown length: that is JSON that does not parse', async () => {
    const { node, request } = await faultyNode({ kind: 'truncated' });
    const half = await clientOf().request(request);
    expect(() => JSON.parse(half)).toThrow(SyntaxError);
    expect(node.calls()).toBe(1);
  });

  test('not one whose response ended before its Content-Length', async () => {
    const { url, requests } = await startRawServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":');
    });
    expect(await failureOf(clientOf().request({ url }))).toEqual(unreachable);
    expect(requests.length).toBe(1);
  });

  test('not one with a bad status', async () => {
    const { node, request } = await faultyNode({ kind: 'status', status: 503 });
    expect(await failureOf(clientOf().request(request))).toMatchObject({ code: 'UPSTREAM_BAD_STATUS' });
    expect(node.calls()).toBe(1);
  });

  test('not one whose connection was refused', async () => {
    const { node, request } = await faultyNode({ kind: 'reset' });
    await node.stop();
    expect(await failureOf(clientOf().request(request))).toEqual(unreachable);
    expect(node.calls()).toBe(0);
  });
});

describe('closing a client', () => {
  test('aborts its requests, and later requests fail', async () => {
    const { url, requests } = await startRawServer(() => {});
    const client = clientOf();
    const pending = failureOf(client.request({ url }));
    await expect.poll(() => requests.length).toBe(1);
    await client.close();
    expect(await pending).toEqual(unreachable);
    expect(await failureOf(client.request({ url }))).toEqual(unreachable);
  });
});

describe('what clients of the gateway see of an error', () => {
  const faults: HttpFault[] = [
    { kind: 'hang' },
    { kind: 'status', status: 500, body: 'http://10.0.0.7/internal' },
    { kind: 'status', status: 403, body: 'http://10.0.0.7/internal' },
    { kind: 'html', status: 403 },
    { kind: 'reset' },
    { kind: 'endless' },
  ];

  test.each(faults)('never an address, a user, a password or a body: $kind', async (fault) => {
    const { request } = await faultyNode(fault);
    const url = new URL(request.url);
    url.username = 'someone';
    url.password = 'secret';
    const failure = await failureOf(clientOf({ timeoutMs: 300, maxBytes: 100_000 }).request({ ...request, url }));
    expect(failure).toMatchObject({ extensions: { upstream: 'NODE' } });
    expect(JSON.stringify(failure)).not.toMatch(/127\.0\.0\.1|10\.0\.0\.7|http:|someone|secret|html/);
  });

  test('the log has the host, and neither user and password nor a key in the path', async () => {
    const { node, request } = await faultyNode({ kind: 'reset' });
    await node.stop();
    const url = new URL(`http://someone:secret@${request.url.host}/`);
    await expect(clientOf().request({ url })).rejects.toMatchObject({
      details: { host: request.url.host },
    });
  });
});

test('the time of Retry-After is that of the error', async () => {
  const { request } = await faultyNode({ kind: 'status', status: 429, retryAfter: 7 });
  await expect(clientOf().request(request)).rejects.toMatchObject({ retryAfterMs: 7_000 });
});

describe('a request that is aborted', () => {
  test('fails with the reason of the signal, which is no fault of the upstream', async () => {
    const { node, request } = await faultyNode({ kind: 'hang' });
    const giveUp = new AbortController();
    const answer = clientOf().request({ ...request, signal: giveUp.signal });
    await expect.poll(() => node.calls()).toBe(1);
    const reason = new Error('another was quicker');
    giveUp.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await expect.poll(() => node.openConnections()).toBe(0);
  });
});

describe('the number of connections', () => {
  test('is limited; further requests wait', async () => {
    const { node, request } = await faultyNode({ kind: 'hang' });
    const client = clientOf({ maxConnections: 3 });
    const answers = Promise.allSettled(Array.from({ length: 10 }, () => client.request(request)));
    await expect.poll(() => node.calls()).toBe(3);
    expect(node.openConnections()).toBe(3);
    node.faults.clear();
    await node.stop();
    await node.start();
    const ends = await answers;
    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(7);
  });
});
