import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createBlockInterval } from '../../../src/live/chain/head-problems.ts';

/** A pace with a clock, and steps at these times. */
function paceWith(...times: number[]) {
  const clock = { now: 0 };
  const pace = createBlockInterval(() => clock.now);
  for (const time of times) {
    clock.now = time;
    pace.observe(time);
  }
  const isOverdueAt = (time: number) => {
    clock.now = time;
    return pace.isOverdue();
  };
  return { clock, isOverdueAt, nextAt: pace.nextAt };
}

describe('when the next block is expected', () => {
  test('it is unknown before the second block', () => {
    expect([paceWith().nextAt(), paceWith(1_000).nextAt()]).toEqual([undefined, undefined]);
  });

  test('the usual interval after the last block, whatever a long pause was', () => {
    expect(paceWith(0, 10_000, 20_000, 900_000, 910_000).nextAt()).toBe(920_000);
  });

  test('after the usual interval at the latest when the clock is set back', () => {
    const { clock, nextAt } = paceWith(900_000, 910_000, 920_000);
    clock.now = 5_000;
    expect(nextAt()).toBe(15_000);
  });
});

/** 20 blocks of 40 s, then ten of 10 s. */
const FASTER = Array.from({ length: 30 }, (_, step) => (step < 20 ? step * 40_000 : 800_000 + (step - 20) * 10_000));

describe('when a block is overdue', () => {
  test('never before the first', () => {
    expect(paceWith().isOverdueAt(1e12)).toBe(false);
  });

  test.each([
    ['after 200 seconds while the interval is unknown: five of the slowest blocks', [1_000], 201_000],
    ['after five times the usual interval', [0, 10_000, 20_000, 30_000], 80_000],
    ['one long pause does not make the next one usual', [0, 10_000, 20_000, 900_000, 910_000], 960_000],
    ['the interval follows the newest blocks', FASTER, 940_000],
    ['not before the time of one of the slowest blocks, however fast the chain caught up', [0, 10, 20, 30, 40], 40_040],
  ])('%s', (_, times, last) => {
    const { isOverdueAt } = paceWith(...times);
    expect([isOverdueAt(last), isOverdueAt(last + 1)]).toEqual([false, true]);
  });

  test('also when the clock is set back by an hour', () => {
    const { isOverdueAt } = paceWith(0, 40_000, 80_000, 120_000, 160_000);
    const elapsed = vi.spyOn(performance, 'now');
    onTestFinished(() => elapsed.mockRestore());
    elapsed.mockReturnValue(performance.now() + 20 * 60_000);
    expect(isOverdueAt(160_000 - 40 * 60_000)).toBe(true);
  });
});
