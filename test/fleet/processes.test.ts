import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { collect, readEvents } from '../support/events.ts';
import { type Answer, startSandbox } from '../support/gateway.ts';
import { type GatewayProcess, startGatewayProcess, untilSettled } from '../support/gateway-process.ts';
import { hasRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { startRedisForTests } from './connected.ts';

/** Collects the heights that a subscriber of `prices` gets, from now on. */
function heightsAt({ url }: GatewayProcess, afterHeight?: number): readonly number[] {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const query = 'subscription ($afterHeight: BeaconHeight) { prices(afterHeight: $afterHeight) { beaconHeight } }';
  async function* subscribe(): AsyncGenerator<Answer<Prices>, undefined> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query, variables: { afterHeight } }),
      signal: leaving.signal,
    });
    yield* readEvents(response) as AsyncGenerator<Answer<Prices>>;
  }
  return collect(subscribe(), ({ prices }) => prices.beaconHeight);
}

type Prices = { readonly prices: { readonly beaconHeight: number } };

const ROOT = new URL('../..', import.meta.url);
const OTHERS = ['--port=0', '--history-database=off', '--stop-window-ms=0'];

describe.skipIf(!hasRedis)('gateways in processes of their own', () => {
  const redis = startRedisForTests();

  const start = (of: SandboxHosts) => startGatewayProcess({ of, redisUrl: redis.url, prefix: 'processes' });

  test('one that is paused publishes nothing over the other, one that is killed is missed by nobody; no height is lost', async () => {
    // States are not filled in before old blocks.
    const sandbox = await startSandbox({ startTime: Math.floor(Date.now() / 1_000) });
    onTestFinished(sandbox.close);
    const [first, second] = [await start(sandbox), await start(sandbox)];
    await untilSettled(first, second);
    const [atFirst, atSecond] = [heightsAt(first), heightsAt(second)];
    await until(() => atFirst.length > 0 && atSecond.length > 0);
    const { height } = sandbox.chain.tip;
    const isAtTip = (heights: readonly number[]) => heights.at(-1) === sandbox.chain.tip.height;

    first.child.kill('SIGSTOP');
    sandbox.advance(2);
    for (let blocks = 0; blocks < 4; blocks++) {
      await until(() => isAtTip(atSecond));
      sandbox.advance();
    }
    await until(() => isAtTip(atSecond));
    // It reads this request as soon as it runs again.
    const resumed = heightsAt(first, height);
    const newest = () => redis.cli('zrange', '{processes}:head-3:values', '-1', '-1', 'withscores').split('\n').at(-1);
    await until(() => Number(newest()) === height + 6);
    first.child.kill('SIGCONT');
    await until(() => isAtTip(atFirst) && isAtTip(resumed));
    expect(Number(newest())).toBe(height + 6);

    second.child.kill('SIGKILL');
    sandbox.advance(2);
    await until(() => isAtTip(atFirst) && isAtTip(resumed));
    const all = Array.from({ length: 9 }, (_, n) => height + n);
    expect([atFirst, atSecond, resumed]).toEqual([all, all.slice(0, 7), all.slice(1)]);
  });

  test('one of another chain exits with status 2 and says why', async () => {
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    redis.cli('set', '{strangers}:chain', 'another-chain');
    const args = [`--fullnode-url=${sandbox.nodeUrl}`, `--redis-url=${redis.url}`, '--redis-prefix=strangers'];
    const run = async () => {
      const child = spawn(process.execPath, ['src/start.js', ...args, ...OTHERS], {
        cwd: ROOT,
        stdio: 'pipe',
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const closed = once(child, 'close');
      const errors = readText(child.stderr);
      // On a busy machine, Redis or its node can respond too late for the check at the start. Then it serves alone. It is stopped so that
      // the code that it has compiled is stored: the next one is faster.
      for await (const line of createInterface(child.stdout)) if (line.includes('"serving"')) child.kill('SIGTERM');
      const [status] = await closed;
      return { status, errors: await errors };
    };
    let ended = await run();
    while (ended.status === 0) ended = await run();
    expect(ended).toEqual({
      status: 2,
      errors:
        'pdex-gateway: REDIS_PREFIX is "strangers", but under this prefix Redis has the fleet of another chain, "another-chain": choose another prefix\n',
    });
  });
});
