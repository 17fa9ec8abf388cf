import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { readEvents } from '../support/events.ts';
import { until } from '../support/fleet.ts';
import { type Answer, startSandbox } from '../support/gateway.ts';
import { type GatewayProcess, startGatewayProcess, untilSettled } from '../support/gateway-process.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';

/** Collects the heights that a subscriber of `prices` gets, from now on. */
function heightsAt({ url }: GatewayProcess, afterHeight?: number): number[] {
  const heights: number[] = [];
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const query = 'subscription ($afterHeight: BeaconHeight) { prices(afterHeight: $afterHeight) { beaconHeight } }';
  void (async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query, variables: { afterHeight } }),
      signal: leaving.signal,
    });
    for await (const { data } of readEvents(response)) heights.push(toPrices(data).beaconHeight);
  })().catch(() => {});
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
    const [first, second] = await untilSettled(await start(sandbox), await start(sandbox));
    const [atFirst, atSecond] = [heightsAt(first), heightsAt(second)];
    await until(() => atFirst.length > 0 && atSecond.length > 0);
    const { height } = sandbox.chain.tip;
    const isAtTip = (heights: readonly number[]) => heights.at(-1) === sandbox.chain.tip.height;

    first.child.kill('SIGSTOP');
    sandbox.advance(2);
    await until(async () => (await second.role()) === 'LEADER');
    for (let blocks = 0; blocks < 4; blocks++) {
      sandbox.advance();
      await until(() => isAtTip(atSecond));
    }
    // It reads this request as soon as it runs again.
    const resumed = heightsAt(first, height);
    const published = redis.cli('xlen', '{processes}:heads');
    first.child.kill('SIGCONT');
    await until(async () => (await first.role()) === 'FOLLOWER');
    expect(redis.cli('xlen', '{processes}:heads')).toBe(published);
    expect(await second.role()).toBe('LEADER');
    await until(() => isAtTip(atFirst) && isAtTip(resumed));

    second.child.kill('SIGKILL');
    sandbox.advance(2);
    await until(async () => (await first.role()) === 'LEADER');
    await until(() => isAtTip(atFirst) && isAtTip(resumed));
    const all = Array.from({ length: 9 }, (_, n) => height + n);
    expect([atFirst, atSecond, resumed]).toEqual([all, all.slice(0, 7), all.slice(1)]);
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
