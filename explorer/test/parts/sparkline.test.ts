import { expect, test } from 'vitest';
import { sparklinePath } from '../../src/parts/sparkline.tsx';

test('a sparkline goes from the lowest value at the bottom to the highest at the top, and leaves out what is not known', () => {
  expect(sparklinePath([1, 3, 2])).toBe('M1.5,22.5L48,1.5L94.5,12');
  expect(sparklinePath([null, 1, 2])).toBe('M48,22.5L94.5,1.5');
  expect(sparklinePath([5, 5])).toBe('M1.5,12L94.5,12');
});

test.each([{ values: [] }, { values: [1] }, { values: [null, null, 3] }])('there is none of $values', ({ values }) => {
  expect(sparklinePath(values)).toBeUndefined();
});
