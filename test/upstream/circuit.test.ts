import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  UpstreamBadShapeError,
  UpstreamBadStatusError,
  UpstreamRpcError,
  UpstreamTimeoutError,
  UpstreamUnreachableError,
} from '../../src/errors.ts';
import { type Circuit, createCircuit } from '../../src/upstream/circuit.ts';

const MAX_PAUSE_MS = 32_000;
const down = () => new UpstreamUnreachableError('NODE', {}, undefined);
const tooMany = (retryAfterMs: number) => new UpstreamBadStatusError('NODE', 429, '', {}, { retryAfterMs });

/** A circuit, what it has let through, and what it has told. */
function circuitForTest() {
  const told: boolean[] = [];
  const circuit: Circuit = createCircuit({ maxPauseMs: MAX_PAUSE_MS, onChange: (isOpen) => told.push(isOpen) });
  let asked = 0;

  /** What running a call that ends so comes to: the answer or the error, and whether anything was asked. */
  async function run(outcome: unknown): Promise<{ end: unknown; wasAsked: boolean }> {
    const before = asked;
    const end = await circuit
      .run(async () => {
        asked += 1;
        if (outcome instanceof Error) throw outcome;
        return outcome;
      })
      .catch((error: unknown) => error);
    return { end, wasAsked: asked > before };
  }

  async function failTimes(times: number, error: Error = down()): Promise<void> {
    for (let call = 0; call < times; call++) await run(error);
  }

  return { run, failTimes, told };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets time pass on the clock that circuits go by. */
function wait(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

describe('when is an upstream left alone', () => {
  test('after three outages in a row: then nobody is sent there, and all get the last error', async () => {
    const { run, failTimes, told } = circuitForTest();
    await failTimes(2);
    const last = new UpstreamTimeoutError('NODE', 5, {});
    expect(await run(last)).toEqual({ end: last, wasAsked: true });
    expect(await run('answer')).toEqual({ end: last, wasAsked: false });
    expect(told).toEqual([true]);
  });

  test('not for outages with a success between them', async () => {
    const { run, failTimes } = circuitForTest();
    for (let round = 0; round < 5; round++) {
      await failTimes(2);
      expect(await run('answer')).toEqual({ end: 'answer', wasAsked: true });
    }
  });

  test.each([
    ['an error of the node’s own', new UpstreamRpcError(-8000, {})],
    ['an answer of the wrong shape', new UpstreamBadShapeError('NODE', 'x')],
    ['an error of ours', new TypeError('ours')],
    ['what was given up', new DOMException('enough', 'AbortError')],
  ])('not for %s', async (_what, error) => {
    const { run, failTimes } = circuitForTest();
    await failTimes(20, error);
    expect(await run('answer')).toEqual({ end: 'answer', wasAsked: true });
  });

  test('at once, and for as long as it says, where it says how long', async () => {
    const { run } = circuitForTest();
    const error = tooMany(20_000);
    await run(error);
    wait(19_999);
    expect(await run('answer')).toEqual({ end: error, wasAsked: false });
    wait(1);
    expect(await run('answer')).toEqual({ end: 'answer', wasAsked: true });
  });

  test('no longer than five minutes, whatever it says', async () => {
    const { run } = circuitForTest();
    await run(tooMany(86_400_000));
    wait(299_999);
    expect((await run('answer')).wasAsked).toBe(false);
    wait(1);
    expect((await run('answer')).wasAsked).toBe(true);
  });
});

describe('how does an upstream come back', () => {
  test('one call is let through after a pause; where it succeeds, all are again', async () => {
    const { run, failTimes, told } = circuitForTest();
    await failTimes(3);
    wait(MAX_PAUSE_MS / 32);
    expect(await run('answer')).toEqual({ end: 'answer', wasAsked: true });
    expect(await run('more')).toEqual({ end: 'more', wasAsked: true });
    expect(told).toEqual([true, false]);
    await failTimes(2);
    expect(await run('answer')).toEqual({ end: 'answer', wasAsked: true });
  });

  test('pauses double up to the longest, each between half of itself and the whole', async () => {
    for (let attempt = 0; attempt < 20; attempt++) {
      const { run, failTimes } = circuitForTest();
      await failTimes(3);
      for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000]) {
        wait(pauseMs / 2 - 1);
        expect((await run(down())).wasAsked, `before half of ${pauseMs} ms`).toBe(false);
        wait(pauseMs / 2 + 1);
        expect((await run(down())).wasAsked, `after ${pauseMs} ms`).toBe(true);
      }
    }
  });

  test('two gateways do not come back at the same moment: pauses have jitter', async () => {
    const asked = async (circuit: ReturnType<typeof circuitForTest>) => (await circuit.run(down())).wasAsked;
    const circuits = Array.from({ length: 64 }, circuitForTest);
    for (const circuit of circuits) await circuit.failTimes(3);
    wait(750);
    const back = await Promise.all(circuits.map(asked));
    expect(new Set(back)).toEqual(new Set([true, false]));
  });

  test('those who ask while one call tries wait for what it comes to, and are not sent before', async () => {
    vi.useRealTimers();
    const circuit = createCircuit({ maxPauseMs: 1 });
    for (let call = 0; call < 3; call++) await circuit.run(() => Promise.reject(down())).catch(() => {});
    await expect.poll(() => circuit.run(async () => 'back')).toBe('back');
    for (let call = 0; call < 3; call++) await circuit.run(() => Promise.reject(down())).catch(() => {});

    const trial = Promise.withResolvers<string>();
    const asked: string[] = [];
    function ask(name: string, answer: Promise<string>): Promise<string> {
      return circuit.run(() => {
        asked.push(name);
        return answer;
      });
    }
    await expect
      .poll(() => {
        ask('trial', trial.promise).catch(() => {});
        return asked;
      })
      .toEqual(['trial']);
    const second = ask('second', Promise.resolve('second'));
    expect(asked).toEqual(['trial']);
    trial.resolve('trial');
    expect(await second).toBe('second');
  });
});

describe('what is asked for clients', () => {
  test('is not asked while the upstream is left alone, and gets the last error', async () => {
    const circuit = createCircuit({ maxPauseMs: MAX_PAUSE_MS });
    const error = down();
    for (let call = 0; call < 3; call++) await circuit.run(() => Promise.reject(error)).catch(() => {});
    let asked = 0;
    const ask = async () => {
      asked += 1;
    };
    await expect(circuit.pass(ask)).rejects.toBe(error);
    wait(MAX_PAUSE_MS);
    await expect(circuit.pass(ask), 'what is followed tries first').rejects.toBe(error);
    expect(asked).toBe(0);
    await circuit.run(async () => {});
    await circuit.pass(ask);
    expect(asked).toBe(1);
  });

  test('however often it fails, is no reason to leave the upstream alone', async () => {
    const circuit = createCircuit({ maxPauseMs: MAX_PAUSE_MS });
    for (let call = 0; call < 20; call++) await circuit.pass(() => Promise.reject(down())).catch(() => {});
    expect(await circuit.run(async () => 'answer')).toBe('answer');
    expect(await circuit.pass(async () => 'answer')).toBe('answer');
  });

  test('is one where the upstream says how long it wants to be left alone', async () => {
    const circuit = createCircuit({ maxPauseMs: MAX_PAUSE_MS });
    const error = tooMany(20_000);
    await expect(circuit.pass(() => Promise.reject(error))).rejects.toBe(error);
    await expect(circuit.run(async () => 'answer')).rejects.toBe(error);
    wait(20_000);
    expect(await circuit.run(async () => 'answer')).toBe('answer');
  });
});

test('a call that tries whether the upstream is back and is given up has not shown that it is', async () => {
  const { run, failTimes, told } = circuitForTest();
  await failTimes(3);
  wait(MAX_PAUSE_MS / 32);
  await run(new Error('another was quicker'));
  expect((await run('answer')).wasAsked).toBe(false);
  expect(told).toEqual([true, true]);
});
