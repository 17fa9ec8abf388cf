import { describe, expect, test } from 'vitest';
import { retry } from '../../src/upstream/retry.ts';

/** Fails with each of these in turn, then succeeds; tells how often it was asked. */
function failing(...errors: unknown[]) {
  let asked = 0;
  const ask = async () => {
    if (asked++ < errors.length) throw errors[asked - 1];
    return `asked ${asked} times`;
  };
  return { ask, asked: () => asked };
}

describe('how often is something asked', () => {
  test('once, where it succeeds', async () => {
    const { ask } = failing();
    expect(await retry(ask, { times: 5, when: () => true })).toBe('asked 1 times');
  });

  test('again for each failure that is worth it, with or without a pause', async () => {
    expect(await retry(failing(1, 2).ask, { times: 2, when: () => true })).toBe('asked 3 times');
    expect(await retry(failing(1, 2).ask, { times: 2, delayMs: 1, when: () => true })).toBe('asked 3 times');
  });

  test('no more often than the policy says, and then the last failure is told', async () => {
    const { ask, asked } = failing(1, 2, 3, 4);
    await expect(retry(ask, { times: 2, when: () => true })).rejects.toBe(3);
    expect(asked()).toBe(3);
  });

  test('not again for a failure that is not worth it', async () => {
    const { ask, asked } = failing('worth it', 'not', 'worth it');
    await expect(retry(ask, { times: 5, when: (error) => error === 'worth it' })).rejects.toBe('not');
    expect(asked()).toBe(2);
  });
});
