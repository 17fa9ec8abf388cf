import { expect, test } from 'vitest';
import { createServerClock } from '../../src/client/server-clock.ts';

test('is the clock of this computer until the gateway has sent its time', () => {
  expect(createServerClock(() => 5_000).now()).toBe(5_000);
});

test('takes the sample with the least delay', () => {
  let now = 10_000;
  const clock = createServerClock(() => now);
  // The clock of the gateway is 60 s ahead. Its times arrive after 80, 20 and 300 ms.
  for (const delay of [80, 20, 300]) {
    now += 1_000;
    clock.observe(now + 60_000 - delay);
  }
  expect(clock.now()).toBe(now + 60_000 - 20);
});

test('follows a clock that is set back, after some samples', () => {
  const clock = createServerClock(() => 0);
  clock.observe(50_000);
  for (let sample = 0; sample < 8; sample++) clock.observe(1_000);
  expect(clock.now()).toBe(1_000);
});
