import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readArguments } from '../../bench/arguments.ts';

const NAMES = ['repeated', 'start', 'fleet'];
const BENCH = join(import.meta.dirname, '../../bench');

test('a whole run has all rows, and writes into the folder of the bench', () => {
  expect(readArguments([], NAMES)).toEqual({ quick: false, rows: NAMES, before: undefined, output: BENCH });
});

test('a run of some rows, a quick one and a comparison only print, unless they have a folder', () => {
  expect(readArguments(['--rows', 'fleet,start'], NAMES)).toMatchObject({
    rows: ['fleet', 'start'],
    output: undefined,
  });
  expect(readArguments(['--quick'], NAMES)).toMatchObject({ quick: true, rows: NAMES, output: undefined });
  expect(readArguments(['--before', 'main', '--output', 'here'], NAMES)).toMatchObject({
    before: 'main',
    output: 'here',
  });
});

test('help is no run, and an unknown row or flag is refused', () => {
  expect(readArguments(['--help'], NAMES)).toBeUndefined();
  expect(() => readArguments(['--rows', 'start,stat'], NAMES)).toThrow('no such row: stat');
  expect(() => readArguments(['--only', 'start'], NAMES)).toThrow('--only');
});
