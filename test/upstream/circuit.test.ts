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

/** A circuit, its calls and its notifications. */
function circuitForTest() {
  const notified: boolean[] = [];
  const circuit: Circuit = createCircuit({ maxPauseMs: MAX_PAUSE_MS, onChange: (isOpen) => notified.push(isOpen) });
  let calls = 0;

  /** The result of a call that ends like this, and whether it was made. */
  async function run(outcome: unknown): Promise<{ end: unknown; wasMade: boolean }> {
    const before = calls;
    const end = await circuit
      .runCounted(async () => {
        calls += 1;
        if (outcome instanceof Error) throw outcome;
        return outcome;
      })
      .catch((error: unknown) => error);
    return { end, wasMade: calls > before };
  }

  async function failTimes(times: number, error: Error = down()): Promise<void> {
    for (let call = 0; call < times; call++) await run(error);
  }

  return { run, failTimes, notified };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Advances the clocks. */
function wait(ms: number): void {
  vi.advanceTimersByTime(ms);
}

describe('when the circuit opens', () => {
  test('after three outages in a row: then no call is made, and all callers get the last error', async () => {
    const { run, failTimes, notified } = circuitForTest();
    await failTimes(2);
    const last = new UpstreamTimeoutError('NODE', 5, {});
    expect(await run(last)).toEqual({ end: last, wasMade: true });
    expect(await run('answer')).toEqual({ end: last, wasMade: false });
    expect(notified).toEqual([true]);
  });

  test('not for outages with a success between them', async () => {
    const { run, failTimes } = circuitForTest();
    for (let round = 0; round < 5; round++) {
      await failTimes(2);
      expect(await run('answer')).toEqual({ end: 'answer', wasMade: true });
    }
  });

  test.each([
    ['a JSON-RPC error', new UpstreamRpcError(-8000, {})],
    ['a response of the wrong shape', new UpstreamBadShapeError('NODE', 'x')],
    ['a defect of the gateway', new TypeError('ours')],
    ['an aborted call', new DOMException('enough', 'AbortError')],
  ])('not for %s', async (_what, error) => {
    const { run, failTimes } = circuitForTest();
    await failTimes(20, error);
    expect(await run('answer')).toEqual({ end: 'answer', wasMade: true });
  });

  test('at once, and for as long as the response says, after a response with Retry-After', async () => {
    const { run } = circuitForTest();
    const error = tooMany(20_000);
    await run(error);
    wait(19_999);
    expect(await run('answer')).toEqual({ end: error, wasMade: false });
    wait(1);
    expect(await run('answer')).toEqual({ end: 'answer', wasMade: true });
  });

  test('for at most five minutes, whatever the response says', async () => {
    const { run } = circuitForTest();
    await run(tooMany(86_400_000));
    wait(299_999);
    expect((await run('answer')).wasMade).toBe(false);
    wait(1);
    expect((await run('answer')).wasMade).toBe(true);
  });
});

describe('when the circuit closes', () => {
  test('one call is made after a pause; if it succeeds, all calls are made again', async () => {
    const { run, failTimes, notified } = circuitForTest();
    await failTimes(3);
    wait(MAX_PAUSE_MS / 32);
    expect(await run('answer')).toEqual({ end: 'answer', wasMade: true });
    expect(await run('more')).toEqual({ end: 'more', wasMade: true });
    expect(notified).toEqual([true, false]);
    await failTimes(2);
    expect(await run('answer')).toEqual({ end: 'answer', wasMade: true });
  });

  test.each([
    ['back', -7 * 3_600_000],
    ['forward', 7 * 3_600_000],
  ])('the pause is as long as usual if the clock of the machine is set %s', async (_, ms) => {
    const { run } = circuitForTest();
    await run(tooMany(20_000));
    vi.setSystemTime(Date.now() + ms);
    wait(19_999);
    expect((await run('answer')).wasMade).toBe(false);
    wait(1);
    expect(await run('answer')).toEqual({ end: 'answer', wasMade: true });
  });

  test('pauses double up to the longest, each between half of itself and the whole', async () => {
    for (let attempt = 0; attempt < 20; attempt++) {
      const { run, failTimes } = circuitForTest();
      await failTimes(3);
      for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000]) {
        wait(pauseMs / 2 - 1);
        expect((await run(down())).wasMade, `before half of ${pauseMs} ms`).toBe(false);
        wait(pauseMs / 2 + 1);
        expect((await run(down())).wasMade, `after ${pauseMs} ms`).toBe(true);
      }
    }
  });

  test('two gateways do not come back at the same moment: pauses have jitter', async () => {
    const calls = async (circuit: ReturnType<typeof circuitForTest>) => (await circuit.run(down())).wasMade;
    const circuits = Array.from({ length: 64 }, circuitForTest);
    for (const circuit of circuits) await circuit.failTimes(3);
    wait(750);
    const back = await Promise.all(circuits.map(calls));
    expect(new Set(back)).toEqual(new Set([true, false]));
  });

  test('calls during the call of a half-open circuit wait for its outcome', async () => {
    vi.useRealTimers();
    const circuit = createCircuit({ maxPauseMs: 1 });
    for (let call = 0; call < 3; call++) await circuit.runCounted(() => Promise.reject(down())).catch(() => {});
    await expect.poll(() => circuit.runCounted(async () => 'back')).toBe('back');
    for (let call = 0; call < 3; call++) await circuit.runCounted(() => Promise.reject(down())).catch(() => {});

    const trial = Promise.withResolvers<string>();
    const calls: string[] = [];
    function ask(name: string, answer: Promise<string>): Promise<string> {
      return circuit.runCounted(() => {
        calls.push(name);
        return answer;
      });
    }
    await expect
      .poll(() => {
        ask('trial', trial.promise).catch(() => {});
        return calls;
      })
      .toEqual(['trial']);
    const second = ask('second', Promise.resolve('second'));
    expect(calls).toEqual(['trial']);
    trial.resolve('trial');
    expect(await second).toBe('second');
  });
});

describe('a call of a client', () => {
  test('is not made while the circuit is open, and gets the last error', async () => {
    const circuit = createCircuit({ maxPauseMs: MAX_PAUSE_MS });
    const error = down();
    for (let call = 0; call < 3; call++) await circuit.runCounted(() => Promise.reject(error)).catch(() => {});
    let calls = 0;
    const ask = async () => {
      calls += 1;
    };
    await expect(circuit.runUncounted(ask)).rejects.toBe(error);
    wait(MAX_PAUSE_MS);
    await expect(circuit.runUncounted(ask), 'what is followed tries first').rejects.toBe(error);
    expect(calls).toBe(0);
    await circuit.runCounted(async () => {});
    await circuit.runUncounted(ask);
    expect(calls).toBe(1);
  });

  test('closes the circuit after a pause, while nothing follows the host', async () => {
    let isPolled = true;
    const circuit = createCircuit({ maxPauseMs: MAX_PAUSE_MS, isPolled: () => isPolled });
    const error = down();
    for (let call = 0; call < 3; call++) await circuit.runCounted(() => Promise.reject(error)).catch(() => {});
    isPolled = false;
    await expect(circuit.runUncounted(async () => 'too early')).rejects.toBe(error);
    wait(MAX_PAUSE_MS);
    expect(await circuit.runUncounted(async () => 'one')).toBe('one');
    isPolled = true;
    expect(await circuit.runUncounted(async () => 'all')).toBe('all');
  });

  test('does not open the circuit, however often it fails', async () => {
    const circuit = createCircuit({ maxPauseMs: MAX_PAUSE_MS });
    for (let call = 0; call < 20; call++) await circuit.runUncounted(() => Promise.reject(down())).catch(() => {});
    expect(await circuit.runCounted(async () => 'answer')).toBe('answer');
    expect(await circuit.runUncounted(async () => 'answer')).toBe('answer');
  });

  test('opens the circuit if the response has Retry-After', async () => {
    const circuit = createCircuit({ maxPauseMs: MAX_PAUSE_MS });
    const error = tooMany(20_000);
    await expect(circuit.runUncounted(() => Promise.reject(error))).rejects.toBe(error);
    await expect(circuit.runCounted(async () => 'answer')).rejects.toBe(error);
    wait(20_000);
    expect(await circuit.runCounted(async () => 'answer')).toBe('answer');
  });
});

test('a call of a half-open circuit that is aborted does not close it', async () => {
  const { run, failTimes, notified } = circuitForTest();
  await failTimes(3);
  wait(MAX_PAUSE_MS / 32);
  await run(new Error('another was quicker'));
  expect((await run('answer')).wasMade).toBe(false);
  expect(notified).toEqual([true, true]);
});
