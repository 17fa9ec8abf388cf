import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { HttpFault } from '../../src/sandbox/faults.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import {
  ask,
  askJson,
  beaconState,
  bestBlocks,
  bytesOf,
  exchange,
  fixedSandbox,
  rpc,
  rpcBody,
  rpcText,
  stateAt,
} from './support.ts';

let sandbox: SandboxHosts;
beforeAll(async () => {
  sandbox = await fixedSandbox({ history: 50 });
});
afterAll(() => sandbox.close());
afterEach(() => {
  sandbox.node.faults.clear();
  sandbox.marketData.faults.clear();
});

const call = bytesOf('POST', rpcBody('getblockchaininfo'));
type Asked = RequestInit & { readonly query?: string };
const post = ({ query = '', ...init }: Asked = {}) =>
  fetch(sandbox.nodeUrl + query, { ...init, method: 'POST', body: rpcBody('getblockchaininfo') });
const pairs = ({ query = '', ...init }: Asked = {}) =>
  fetch(`${sandbox.marketDataUrl}/api/v1/public/market-data/pairs${query}`, init);
const onBoth = (fault: HttpFault) => {
  sandbox.node.faults.set(fault);
  sandbox.marketData.faults.set(fault);
};
const hosts = [
  ['the node', post],
  ['the market-data host', pairs],
] as const;

describe.each(hosts)('a fault of %s', (_, request) => {
  test('status has its text and Retry-After', async () => {
    onBoth({ kind: 'status', status: 429, body: 'slow down', retryAfter: 7 });
    const response = await request();
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.text()).toBe('slow down');
  });

  test.each([
    [undefined, 200],
    [403, 403],
  ])('html is a page with the status %s', async (status, sent) => {
    onBoth(status === undefined ? { kind: 'html' } : { kind: 'html', status });
    const response = await request();
    expect(response.status).toBe(sent);
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(await response.text()).toContain('<html');
  });

  test('redirect has a location and a page', async () => {
    onBoth({ kind: 'redirect', to: 'https://elsewhere.example/', status: 308, times: 1 } as HttpFault);
    const response = await request({ redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([308, 'https://elsewhere.example/']);
    expect(await response.text()).toContain('<title>308 Permanent Redirect</title>');
  });

  test('https-expected is the page of nginx', async () => {
    onBoth({ kind: 'https-expected' });
    const response = await request();
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'text/html']);
    expect(await response.text()).toContain('400 The plain HTTP request was sent to HTTPS port');
  });

  test.each([['json'], ['text']] as const)('echo repeats the URL and the headers, as %s', async (as) => {
    onBoth({ kind: 'echo', as });
    const authorization = `Basic ${Buffer.from('someone:a word').toString('base64')}`;
    const response = await request({ headers: { authorization, 'x-api-key': 'a key' }, query: '?a=%C3%A9' });
    const body = await response.text();
    expect(response.status).toBe(404);
    for (const part of ['someone:a word', authorization, 'a key', '?a=%C3%A9', '?a=é']) expect(body).toContain(part);
  });

  test.each(['gzip', 'deflate', 'br'] as const)(
    'compressed as %s has the same content in fewer bytes',
    async (encoding) => {
      const plain = await (await request()).text();
      onBoth({ kind: 'compressed', encoding });
      const response = await request();
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(await response.text()).toBe(plain);
    },
  );

  test('compressed with ifAsked does not compress for other clients', async () => {
    onBoth({ kind: 'compressed', ifAsked: true });
    const encodingFor = async (asked: string) =>
      (await request({ headers: { 'accept-encoding': asked } })).headers.get('content-encoding');
    expect([await encodingFor('identity'), await encodingFor('gzip')]).toEqual([null, 'gzip']);
  });

  test('garbage is not JSON', async () => {
    onBoth({ kind: 'garbage' });
    const response = await request();
    expect(response.status).toBe(200);
    await expect(response.json()).rejects.toThrow(SyntaxError);
  });

  test('empty is a status without a body', async () => {
    onBoth({ kind: 'empty' });
    const response = await request();
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('reset resets the connection before a response', async () => {
    onBoth({ kind: 'reset' });
    await expect(request()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  });

  test('endless continues until the client disconnects', async () => {
    onBoth({ kind: 'endless' });
    const response = await request();
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > 1_000_000) break;
    }
    expect(bytes).toBeGreaterThan(1_000_000);
  });

  test('delay sends the same response later', async () => {
    const whole = await (await request()).text();
    onBoth({ kind: 'delay', ms: 100 });
    const startedAt = performance.now();
    expect(await (await request()).text()).toBe(whole);
    // A timer may be a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThan(98);
  });

  test('delay delays no other request', async () => {
    const minutes = { kind: 'delay', ms: 600_000, times: 1 } as const;
    sandbox.node.faults.set(minutes);
    sandbox.marketData.faults.set(minutes);
    const calls = sandbox.node.calls() + sandbox.marketData.calls();
    const controller = new AbortController();
    const first = request({ signal: controller.signal });
    await expect.poll(() => sandbox.node.calls() + sandbox.marketData.calls()).toBe(calls + 1);
    expect((await request()).status).toBe(200);
    controller.abort();
    await expect(first).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('hang sends nothing while other requests get responses', async () => {
    sandbox.node.faults.set({ kind: 'hang', times: 1 });
    sandbox.marketData.faults.set({ kind: 'hang', times: 1 });
    const calls = sandbox.node.calls() + sandbox.marketData.calls();
    const first = request().then(() => 'first');
    await expect.poll(() => sandbox.node.calls() + sandbox.marketData.calls()).toBe(calls + 1);
    expect(await Promise.race([first, request().then(() => 'second')])).toBe('second');
    first.catch(() => undefined);
  });
});

describe('a fault', () => {
  test('drip sends the complete body slowly', async () => {
    const ask = () => fetch(sandbox.nodeUrl, { method: 'POST', body: rpcBody('getpdestate') });
    const whole = await (await ask()).text();
    sandbox.node.faults.set({ kind: 'drip', everyMs: 0 });
    let pieces = 0;
    let text = '';
    for await (const piece of (await ask()).body ?? []) {
      pieces += 1;
      text += Buffer.from(piece).toString();
    }
    expect(text).toBe(whole);
    expect(pieces).toBeGreaterThan(5);
  });

  test('truncated closes the connection of a node gracefully in the middle', async () => {
    const whole = await exchange(sandbox.nodeUrl, call);
    sandbox.node.faults.set({ kind: 'truncated' });
    const half = await exchange(sandbox.nodeUrl, call);
    expect(whole.startsWith(half)).toBe(true);
    expect(half.length).toBeGreaterThan(1_000);
    expect(half.length).toBeLessThan(whole.length);
  });

  // On a bare socket: without a content length, some clients take the bytes before the reset for the complete response.
  test('reset-in-body resets the connection of a node', async () => {
    sandbox.node.faults.set({ kind: 'reset-in-body' });
    await expect(exchange(sandbox.nodeUrl, call)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('reset-in-body resets the connection of a market-data host after the head', async () => {
    sandbox.marketData.faults.set({ kind: 'reset-in-body' });
    const response = await pairs();
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test('truncated sends less than the content length of a market-data response', async () => {
    sandbox.marketData.faults.set({ kind: 'truncated' });
    const response = await pairs();
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(10_000);
    await expect(response.text()).rejects.toThrow();
  });

  test('shape replaces the value at a path and leaves all other digits', async () => {
    const height = sandbox.chain.tip.height;
    const before = await rpcText(sandbox.nodeUrl, 'getpdestate', [{ BeaconHeight: height }]);
    sandbox.node.faults.set({ kind: 'shape', path: ['Result', 'BeaconTimeStamp'], value: 'x', times: 1 });
    const after = await rpcText(sandbox.nodeUrl, 'getpdestate', [{ BeaconHeight: height }]);
    expect(JSON.parse(after)).toEqual({
      ...JSON.parse(before),
      Result: { ...JSON.parse(before).Result, BeaconTimeStamp: 'x' },
    });
    const large = /"Token2PoolValue": (1\d{19})/.exec(before)?.[1];
    expect(large).toBeDefined();
    expect(after).toContain(`"Token2PoolValue":${large}`);
  });

  test('shape can replace every key and remove one', async () => {
    sandbox.marketData.faults.set({ kind: 'shape', path: ['pairs', '*', 'pool_id'], value: 7, times: 1 });
    const numbered = await askJson(sandbox.marketDataUrl, 'pairs');
    expect(numbered.pairs.every((pair) => pair['pool_id'] === 7)).toBe(true);
    sandbox.marketData.faults.set({ kind: 'shape', path: ['pairs'], value: undefined, times: 1 });
    expect(await (await pairs()).json()).toEqual({ message: 'OK' });
  });

  test('no-data is a success without a list', async () => {
    sandbox.marketData.faults.set({ kind: 'no-data' });
    const read = async (path: string) => (await ask(sandbox.marketDataUrl, path)).json();
    expect(await read('pairs')).toEqual({ message: 'no data', pairs: null });
    expect(await read('tickers')).toEqual({ message: 'no data', tickers: null });
    expect(await read('orderbook?ticker_id=pBTC_PRV')).toEqual({ message: 'no data', bids: null, asks: null });
  });

  test('state-missing applies only to the exchange state of the tip', async () => {
    const { height } = sandbox.chain.tip;
    sandbox.node.faults.set({ kind: 'state-missing', times: 1 });
    expect((await beaconState(sandbox.nodeUrl)).BeaconHeight).toBe(height);
    expect((await stateAt(sandbox.nodeUrl, height - 1)).Error).toBe(null);
    expect((await stateAt(sandbox.nodeUrl, height)).Error?.Code).toBe(-8000);
    expect((await stateAt(sandbox.nodeUrl, height)).Error).toBe(null);
  });

  test('lag reports an earlier tip in all calls until it is cleared', async () => {
    const { height } = sandbox.chain.tip;
    const clear = sandbox.node.faults.set({ kind: 'lag', blocks: 3 });
    const earlier = sandbox.chain.block(height - 3);
    expect((await bestBlocks(sandbox.nodeUrl))['-1']).toMatchObject({
      Height: height - 3,
      Hash: earlier?.hash,
      Time: earlier?.time,
    });
    expect((await beaconState(sandbox.nodeUrl)).BeaconHeight).toBe(height - 3);
    expect((await stateAt(sandbox.nodeUrl, height - 2)).Error?.Code).toBe(-8000);
    expect((await stateAt(sandbox.nodeUrl, height - 3)).Error).toBe(null);
    clear();
    expect((await stateAt(sandbox.nodeUrl, height)).Error).toBe(null);
  });

  test('pruned keeps the states of the newest blocks', async () => {
    const { height } = sandbox.chain.tip;
    sandbox.node.faults.set({ kind: 'pruned', blocks: 10 });
    expect((await stateAt(sandbox.nodeUrl, height - 10)).Error).toBe(null);
    const { Error: error } = await stateAt(sandbox.nodeUrl, height - 11);
    expect(error).toMatchObject({
      Code: -8000,
      StackTrace: expect.stringMatching(/missing trie node|leveldb: not found/),
    });
  });

  test('state-error responds to exchange states with that cause', async () => {
    const { height } = sandbox.chain.tip;
    sandbox.node.faults.set({ kind: 'state-error', because: 'open /data/7.ldb: too many open files', times: 1 });
    expect((await beaconState(sandbox.nodeUrl)).BeaconHeight).toBe(height);
    const { Error: error } = await stateAt(sandbox.nodeUrl, height);
    expect(error).toMatchObject({
      Code: -8000,
      Message: 'Get pde state error',
      StackTrace: expect.stringMatching(/^-8000: open \/data\/7\.ldb: too many open files\nGet pde state error\n/),
    });
    expect((await stateAt(sandbox.nodeUrl, height)).Error).toBe(null);
  });

  test('error-limit closes every call of a method after too many errors, until the window is over', async () => {
    const { height } = sandbox.chain.tip;
    sandbox.node.faults.set({ kind: 'error-limit', errors: 2, windowMs: 3_000 });
    for (let errors = 0; errors < 3; errors++) {
      expect((await stateAt(sandbox.nodeUrl, height + 1)).Error?.Code).toBe(-8000);
    }
    expect(await exchange(sandbox.nodeUrl, bytesOf('POST', rpcBody('getpdestate', [{ BeaconHeight: height }])))).toBe(
      '',
    );
    expect((await beaconState(sandbox.nodeUrl)).BeaconHeight).toBe(height);
    await expect.poll(() => stateAt(sandbox.nodeUrl, height).catch(() => undefined)).toMatchObject({ Error: null });
  });

  test('wrong-id responds with another id', async () => {
    sandbox.node.faults.set({ kind: 'wrong-id' });
    expect((await rpc(sandbox.nodeUrl, 'getblockchaininfo')).Id).toBe(2);
  });
});

describe('the target of a fault', () => {
  test('can be one call', async () => {
    sandbox.node.faults.set({ kind: 'status', status: 500, on: 'getpdestate' });
    expect((await post()).status).toBe(200);
    sandbox.marketData.faults.set({ kind: 'status', status: 500, on: 'tickers' });
    expect((await pairs()).status).toBe(200);
    expect((await ask(sandbox.marketDataUrl, 'tickers')).status).toBe(500);
  });

  test('can be a number of calls, so that several faults follow each other', async () => {
    sandbox.node.faults.set({ kind: 'status', status: 502, times: 2 });
    sandbox.node.faults.set({ kind: 'status', status: 503, times: 1 });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await post()).status);
    expect(statuses).toEqual([502, 502, 503, 200]);
  });

  test('can be cleared, alone or with all others', async () => {
    const clear = sandbox.node.faults.set({ kind: 'status', status: 502 });
    sandbox.node.faults.set({ kind: 'status', status: 503 });
    clear();
    expect((await post()).status).toBe(503);
    sandbox.node.faults.clear();
    expect((await post()).status).toBe(200);
  });

  test('combines a delay with another fault', async () => {
    sandbox.node.faults.set({ kind: 'delay', ms: 1, times: 1 });
    sandbox.node.faults.set({ kind: 'status', status: 502, times: 1 });
    expect((await post()).status).toBe(502);
    expect((await post()).status).toBe(200);
  });
});

describe('a stopped host', () => {
  test('closes its connections, refuses new ones, and starts again on the same port', async () => {
    await using other = await fixedSandbox({ history: 5 });
    other.node.faults.set({ kind: 'hang', times: 1 });
    const { hostname, port } = new URL(other.nodeUrl);
    const waiting = connect(Number(port), hostname, () => waiting.write(call));
    await expect.poll(() => other.node.calls()).toBe(1);
    expect(other.node.openConnections()).toBe(1);

    const closed = once(waiting, 'close');
    waiting.resume();
    await other.node.stop();
    await closed;
    expect(other.node.openConnections()).toBe(0);
    await expect(rpc(other.nodeUrl, 'getblockchaininfo')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });

    await other.node.start();
    expect(other.node.url).toBe(other.nodeUrl);
    expect((await rpc(other.nodeUrl, 'getblockchaininfo')).Error).toBe(null);
  });
});
