import { describe, expect, test } from 'vitest';
import { UpstreamNotConfiguredError, UpstreamRpcError } from '../../src/errors.ts';
import { createHealthRecord, healthOfAll } from '../../src/upstream/health.ts';

const nothing = { lastSuccessAt: undefined, lastErrorAt: undefined, lastErrorCode: undefined };

describe('the health of a host', () => {
  test('is not healthy before the first call, healthy while calls succeed, and remembers the last of each outcome', async () => {
    let now = 100;
    const health = createHealthRecord('NODE', () => now);
    expect(health.read()).toEqual({ upstream: 'NODE', healthy: false, ...nothing });

    expect(await health.watch('call', Promise.resolve('answer'))).toBe('answer');
    expect(health.read()).toEqual({ upstream: 'NODE', healthy: true, ...nothing, lastSuccessAt: 100 });

    now = 200;
    const failure = new UpstreamRpcError(-1002, {});
    await expect(health.watch('call', Promise.reject(failure))).rejects.toBe(failure);
    const failed = { lastSuccessAt: 100, lastErrorAt: 200, lastErrorCode: 'UPSTREAM_RPC_ERROR' };
    expect(health.read()).toEqual({ upstream: 'NODE', healthy: false, ...failed });

    now = 300;
    await health.watch('call', Promise.resolve());
    expect(health.read()).toEqual({ upstream: 'NODE', healthy: true, ...failed, lastSuccessAt: 300 });
  });

  test('does not count an error that is no fault of the host, or a defect of the gateway', async () => {
    const health = createHealthRecord('MARKET_DATA', () => 100);
    await health.watch('call', Promise.resolve());
    const before = health.read();
    const failure = new UpstreamNotConfiguredError('MARKET_DATA');
    await expect(health.watch('call', Promise.reject(failure), () => false)).rejects.toBe(failure);
    const ours = new TypeError('ours');
    await expect(health.watch('call', Promise.reject(ours))).rejects.toBe(ours);
    expect(health.read()).toEqual(before);
  });

  test('reports each call that has ended with its outcome', async () => {
    const calls: unknown[] = [];
    const health = createHealthRecord(
      'NODE',
      () => 100,
      (call) => calls.push(call),
    );
    await health.watch('getpdestate', Promise.resolve());
    await health
      .watch('getpdestate', Promise.reject(new UpstreamRpcError(-8000, {})), () => false)
      .catch(() => undefined);
    const call = { upstream: 'NODE', method: 'getpdestate', seconds: expect.any(Number) };
    expect(calls).toEqual([
      { ...call, outcome: 'OK' },
      { ...call, outcome: 'UPSTREAM_RPC_ERROR' },
    ]);
  });
});

describe('the health of several hosts', () => {
  test('is healthy while one of them is, with the newest success and error of all', async () => {
    let now = 100;
    const [one, other] = [createHealthRecord('NODE', () => now), createHealthRecord('NODE', () => now)];
    expect(healthOfAll([one.read(), other.read()])).toEqual({ upstream: 'NODE', healthy: false, ...nothing });

    const fail = async (record: typeof one, code: number) =>
      record.watch('call', Promise.reject(new UpstreamRpcError(code, {}))).catch(() => {});
    await fail(one, -1);
    now = 200;
    await other.watch('call', Promise.resolve());
    const failed = { lastErrorAt: 100, lastErrorCode: 'UPSTREAM_RPC_ERROR' };
    expect(healthOfAll([one.read(), other.read()])).toEqual({
      upstream: 'NODE',
      healthy: true,
      lastSuccessAt: 200,
      ...failed,
    });

    now = 300;
    await fail(other, -2);
    expect(healthOfAll([one.read(), other.read()])).toMatchObject({
      healthy: false,
      lastSuccessAt: 200,
      lastErrorAt: 300,
    });
    now = 400;
    await one.watch('call', Promise.resolve());
    expect(healthOfAll([one.read(), other.read()])).toMatchObject({
      healthy: true,
      lastSuccessAt: 400,
      lastErrorAt: 300,
    });
    now = 500;
    await other.watch('call', Promise.resolve());
    expect(healthOfAll([one.read(), other.read()])).toMatchObject({ lastSuccessAt: 500 });
  });
});
