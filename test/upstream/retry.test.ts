import { describe, expect, test } from 'vitest';
import { retry } from '../../src/upstream/retry.ts';

/** A call that fails with each of these in turn, then succeeds. */
function failing(...errors: unknown[]) {
  let calls = 0;
  const call = async () => {
    if (calls++ < errors.length) throw errors[calls - 1];
    return `call ${calls}`;
  };
  return { call, calls: () => calls };
}

describe('how often a call is made', () => {
  test('once if it succeeds', async () => {
    const { call } = failing();
    expect(await retry(call, { times: 5, when: () => true })).toBe('call 1');
  });

  test('again after each error that the policy names, with or without a pause', async () => {
    expect(await retry(failing(1, 2).call, { times: 2, when: () => true })).toBe('call 3');
    expect(await retry(failing(1, 2).call, { times: 2, delayMs: 1, when: () => true })).toBe('call 3');
  });

  test('at most as often as the policy says, and then the last error is thrown', async () => {
    const { call, calls } = failing(1, 2, 3, 4);
    await expect(retry(call, { times: 2, when: () => true })).rejects.toBe(3);
    expect(calls()).toBe(3);
  });

  test('not again after any other error', async () => {
    const { call, calls } = failing('transient', 'permanent', 'transient');
    await expect(retry(call, { times: 5, when: (error) => error === 'transient' })).rejects.toBe('permanent');
    expect(calls()).toBe(2);
  });
});
