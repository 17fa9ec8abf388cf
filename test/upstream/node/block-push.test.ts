import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UpstreamError } from '../../../src/errors.ts';
import { type BlockPushOptions, createBlockPush, pauseMs } from '../../../src/upstream/node/block-push.ts';
import { fixedSandbox } from '../../sandbox/support.ts';

/** A push whose notifications are recorded. */
function record(url: string, options: Partial<BlockPushOptions> = {}) {
  const heights: number[] = [];
  const changes: boolean[] = [];
  const notified: string[] = [];
  const push = createBlockPush({
    name: 'node',
    url: new URL(url),
    headers: {},
    timeoutMs: 5_000,
    firstPauseMs: 1,
    onBlock: ({ height }) => heights.push(height - 1_640_000),
    onChange: (isOpen) => changes.push(isOpen),
    watcher: {
      failed: (error) => notified.push(error instanceof UpstreamError ? error.message : String(error)),
      pushing: () => notified.push('pushing'),
    },
    ...options,
  });
  onTestFinished(push.close);
  return { push, heights, changes, notified };
}

/** Starts a sandbox, and a push from it that has subscribed. */
async function subscribed(options?: Partial<BlockPushOptions>) {
  const sandbox = await fixedSandbox({ history: 30 });
  onTestFinished(sandbox.close);
  const recorded = record(sandbox.pushUrl, options);
  await expect.poll(sandbox.push.subscribers).toBe(1);
  return { sandbox, ...recorded };
}

describe('a push', () => {
  test('receives the blocks that the node pushes', async () => {
    const { sandbox, push, heights, notified } = await subscribed();
    expect(push.status()).toEqual({ isOpen: true, isFailing: false, frames: 0, reconnects: 0 });
    sandbox.advance(2);
    await expect.poll(() => heights).toEqual([1, 2]);
    expect(notified).toEqual(['pushing']);
    expect(push.status()).toEqual({ isOpen: true, isFailing: false, frames: 2, reconnects: 0 });
  });

  test('opens one socket, without a subprotocol and without compression, with the headers', async () => {
    const sandbox = await fixedSandbox({ history: 5 });
    onTestFinished(sandbox.close);
    const { host } = new URL(sandbox.pushUrl);
    record(`ws://us%40er:pa%20ss@${host}/path?key=1#fragment`, { headers: { 'x-api-key': 'k' } });
    await expect.poll(sandbox.push.subscribers).toBe(1);
    const [upgrade, ...others] = sandbox.push.upgrades;
    expect([upgrade?.path, others]).toEqual(['/path?key=1', []]);
    expect(upgrade?.headers).toMatchObject({
      'x-api-key': 'k',
      authorization: `Basic ${Buffer.from('us@er:pa ss').toString('base64')}`,
    });
    expect(Object.keys(upgrade?.headers ?? {}).filter((name) => /protocol|extensions/.test(name))).toEqual([]);
  });

  test('unsubscribes before it closes', async () => {
    const { sandbox, push, changes } = await subscribed();
    await push.close();
    await expect.poll(sandbox.push.openSockets).toBe(0);
    expect([sandbox.push.calls('unsubscribe'), sandbox.push.leaked()]).toEqual([1, 0]);
    expect(changes).toEqual([true, false]);
    expect([push.status().isOpen, sandbox.push.upgrades.length]).toEqual([false, 1]);
  });

  test('closes a second later if the node never sends the last frame', async () => {
    const { sandbox, push } = await subscribed();
    sandbox.push.faults.set({ kind: 'ignored', on: 'unsubscribe' });
    await push.close();
    await expect.poll(sandbox.push.openSockets).toBe(0);
    expect(sandbox.push.calls('unsubscribe')).toBe(1);
  });

  test('can be closed while it connects, and between two attempts', async () => {
    const server = createServer((socket) => void socket.on('error', () => {}));
    const isConnecting = once(server, 'connection');
    const connecting = record(await listen(server));
    await isConnecting;
    await connecting.push.close();
    const waiting = record('ws://127.0.0.1:1', { firstPauseMs: 600_000 });
    await expect.poll(() => waiting.notified).toEqual(['The node cannot be reached.']);
    expect(waiting.push.status()).toEqual({ isOpen: false, isFailing: true, frames: 0, reconnects: 0 });
    await waiting.push.close();
    expect(waiting.push.status()).toEqual({ isOpen: false, isFailing: false, frames: 0, reconnects: 0 });
  });
});

describe('a push connects again', () => {
  test.each([
    [
      'a frame that is not JSON',
      { kind: 'garbage-frame', times: 1 },
      'The node sent an invalid response: it is not JSON.',
    ],
    ['an error of the node', { kind: 'rpc-error', code: '-1002', times: 1 }, 'The node responded with error -1002.'],
  ] as const)('after %s, and unsubscribes before', async (_, fault, message) => {
    const sandbox = await fixedSandbox({ history: 5 });
    onTestFinished(sandbox.close);
    sandbox.push.faults.set(fault);
    const { notified, heights } = record(sandbox.pushUrl);
    await expect.poll(sandbox.push.openSockets).toBe(1);
    await expect.poll(() => sandbox.push.calls('subscribe')).toBeGreaterThan(0);
    if (fault.kind === 'garbage-frame') sandbox.advance();
    await expect.poll(() => notified).toEqual([message]);
    await expect.poll(() => sandbox.push.upgrades.length).toBe(2);
    await expect.poll(sandbox.push.subscribers).toBe(1);
    expect([sandbox.push.calls('unsubscribe'), sandbox.push.leaked()]).toEqual([1, 0]);
    sandbox.advance();
    await expect.poll(() => heights.length).toBe(1);
    expect(notified).toEqual([message, 'pushing']);
  });

  test('after a frame that is too large, which closes the socket at once', async () => {
    const { sandbox, notified } = await subscribed();
    sandbox.push.faults.set({ kind: 'large-frame', bytes: 9 * 2 ** 20, times: 1 });
    sandbox.advance();
    await expect.poll(() => notified).toEqual(['The node cannot be reached.']);
    await expect.poll(() => sandbox.push.upgrades.length).toBe(2);
    expect([sandbox.push.calls('unsubscribe'), sandbox.push.leaked()]).toEqual([1, 0]);
  });

  test('after a lost connection, with one warning for all attempts', async () => {
    const { sandbox, push, notified, heights } = await subscribed();
    sandbox.advance();
    await expect.poll(() => heights).toEqual([1]);
    await sandbox.push.stop();
    await expect.poll(() => push.status().reconnects).toBeGreaterThan(3);
    expect(push.status()).toMatchObject({ isOpen: false, isFailing: true });
    await sandbox.push.start();
    await expect.poll(sandbox.push.subscribers).toBe(1);
    sandbox.advance();
    await expect.poll(() => heights).toEqual([1, 2]);
    expect(notified).toEqual(['pushing', 'The node cannot be reached.', 'pushing']);
  });

  test('after a node with too many clients has refused it', async () => {
    const sandbox = await fixedSandbox({ history: 5, maxPushClients: 1 });
    onTestFinished(sandbox.close);
    const first = record(sandbox.pushUrl);
    await expect.poll(sandbox.push.subscribers).toBe(1);
    const second = record(sandbox.pushUrl);
    await expect.poll(() => second.notified).toEqual(['The node responded with HTTP status 503.']);
    await first.push.close();
    await expect.poll(() => second.push.status().isOpen).toBe(true);
    await sandbox.push.stop();
    const refusals = ['The node responded with HTTP status 503.', 'The node cannot be reached.'];
    await expect.poll(() => second.notified).toEqual(refusals);
  });

  test('after a peer no longer answers pings, and pings one that does', async () => {
    const { sandbox, notified } = await subscribed({ pingMs: 500 });
    // Only a socket whose pings are answered has more than one. On a busy machine, an answer can come too late.
    await expect.poll(() => sandbox.push.calls('ping') - sandbox.push.upgrades.length).toBeGreaterThan(2);
    const { length: before } = sandbox.push.upgrades;
    sandbox.push.faults.set({ kind: 'ignored', on: 'ping' });
    await expect.poll(() => sandbox.push.upgrades.length).toBeGreaterThan(before);
    expect(notified).toEqual(['The node did not respond within 500 ms.']);
    expect([sandbox.push.calls('unsubscribe') > 0, sandbox.push.leaked()]).toEqual([true, 0]);
  });

  test('later each time, from the first pause on', async () => {
    const sandbox = await fixedSandbox({ history: 5 });
    onTestFinished(sandbox.close);
    sandbox.push.faults.set({ kind: 'refused', status: 401 });
    const startedAt = performance.now();
    const { push } = record(sandbox.pushUrl, { firstPauseMs: 8 });
    await expect.poll(() => push.status().reconnects).toBeGreaterThanOrEqual(5);
    // 8 + 16 + 32 + 64 + 128 ms.
    expect(performance.now() - startedAt).toBeGreaterThan(248);
  });

  test('after five minutes at most', () => {
    expect([pauseMs(9, 1_000), pauseMs(60, 1_000)]).toEqual([300_000, 300_000]);
  });
});

function listen(server: Server): Promise<string> {
  onTestFinished(() => void server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
    });
  });
}
