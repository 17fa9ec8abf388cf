import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { readEvents } from '../support/events.ts';
import { until } from '../support/fleet.ts';
import { type Answer, startSandbox } from '../support/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';

/** Collects the heights that a subscriber of `prices` gets. */
async function heightsAt({ url }: GatewayProcess): Promise<number[]> {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { prices { beaconHeight } }' }),
    signal: leaving.signal,
  });
  const heights: number[] = [];
  void (async () => {
    for await (const { data } of readEvents(response)) heights.push(toPrices(data).beaconHeight);
  })().catch(() => {});
  await until(() => heights.length > 0);
  return heights;
}

function toPrices(data: Answer['data']): { readonly beaconHeight: number } {
  return data?.['prices'] as { readonly beaconHeight: number };
}

const ROOT = new URL('../..', import.meta.url);

describe.skipIf(!hasRedis)('gateways in processes of their own', { timeout: 60_000 }, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  const start = (of: Sandbox) => startGatewayProcess({ of, redisUrl: redis.url, prefix: 'processes' });

  test('a leader that is paused does not publish over its successor; one that is killed is replaced; no height is lost', async () => {
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    const first = await start(sandbox);
    await until(async () => (await first.role()) === 'LEADER');
    const second = await start(sandbox);
    await until(async () => (await second.role()) === 'FOLLOWER');
    const heights = await heightsAt(second);

    first.child.kill('SIGSTOP');
    sandbox.advance(2);
    await until(async () => (await second.role()) === 'LEADER');
    sandbox.advance();
    await until(() => heights.at(-1) === sandbox.chain.tip.height);
    const published = redis.cli('xlen', '{processes}:heads');
    first.child.kill('SIGCONT');
    await until(async () => (await first.role()) === 'FOLLOWER');
    expect(redis.cli('xlen', '{processes}:heads')).toBe(published);
    expect(await second.role()).toBe('LEADER');

    const resumed = await heightsAt(first);
    expect(resumed[0]).toBe(sandbox.chain.tip.height);
    second.child.kill('SIGKILL');
    sandbox.advance(2);
    await until(async () => (await first.role()) === 'LEADER');
    await until(() => resumed.at(-1) === sandbox.chain.tip.height);
    for (const received of [heights, resumed]) expect(received).toEqual(received.map((_, n) => (received[0] ?? 0) + n));
  });

  test('one of another chain exits with status 2 and says why', async () => {
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    redis.cli('set', '{strangers}:chain', 'another-chain');
    const args = [`--fullnode-url=${sandbox.nodeUrl}`, `--redis-url=${redis.url}`, '--redis-prefix=strangers'];
    const rest = ['--port=0', '--history-database=off', '--log-level=fatal'];
    const child = spawn(process.execPath, ['src/start.js', ...args, ...rest], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let written = '';
    child.stderr.on('data', (text) => {
      written += text;
    });
    expect(await once(child, 'close')).toEqual([2, null]);
    expect(written).toBe(
      'pdex-gateway: REDIS_PREFIX is "strangers", but under this prefix Redis has the fleet of another chain, "another-chain": choose another prefix\n',
    );
  });
});
