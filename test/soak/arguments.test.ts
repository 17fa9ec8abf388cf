import { expect, test } from 'vitest';
import { readArguments } from '../../soak/arguments.ts';

test('the soak test takes a seed and a number of gateways as whole numbers, and parts of minutes', () => {
  const args = ['--minutes', '0.5', '--seed', '7', '--load', '1.5', '--replicas', '3'];
  expect(readArguments(args)).toMatchObject({ minutes: 0.5, seed: 7, load: 1.5, replicas: 3 });
});

test.each([
  ['--replicas', '1.2'],
  ['--replicas', '0'],
  ['--seed', '1.5'],
  ['--seed', '1e300'],
])('the soak test refuses %s %s', (flag, text) => {
  expect(() => readArguments([flag, text])).toThrow(`${flag} must be a whole number above 0: ${text}`);
});
