import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { toChart } from '../../bench/report/chart.ts';
import { toComparison } from '../../bench/report/comparison.ts';
import { writeReport } from '../../bench/report/files.ts';
import { toPage } from '../../bench/report/page.ts';
import type { Run } from '../../bench/report/run.ts';
import { createResult, type OpenResult, type Result } from '../../bench/result.ts';

const ROOT = join(import.meta.dirname, '../..');

function createThroughput(goals: Result['goals'], samplesPerStart = 2): OpenResult {
  return createResult({
    title: 'A & B',
    about: 'Requests.',
    unit: 'responses/s',
    better: 'more',
    sizeUnit: 'pools',
    sizes: [1_000, 10_000],
    samplesPerStart,
    goals,
  });
}

function addAll(result: OpenResult, target: string, samples: Readonly<Record<number, readonly number[]>>): void {
  for (const [size, values] of Object.entries(samples))
    for (const sample of values) result.add(target, Number(size), sample);
}

function runOf(results: readonly Result[], failures: Run['failures'] = []): Run {
  return {
    command: 'npm run bench',
    date: '2026-01-31',
    minutes: 25,
    machine: ['- 2 cores'],
    rows: [{ name: 'some-row', results }],
    failures,
  };
}

const linesOf = (page: string) => page.split('\n').filter((line) => line.startsWith('|'));

describe('the page of a run', () => {
  test('has one line for each goal, at the size that is the furthest from meeting it', () => {
    const result = createThroughput([
      { target: 'gateway', baseline: { target: 'bare', by: 'ratio' }, bound: 'at least', value: 0.85 },
      { target: 'gateway', bound: 'at least', value: 1_500 },
    ]);
    addAll(result, 'gateway', { 1000: [900, 950, 920, 940], 10000: [800, 820, 840, 900] });
    addAll(result, 'bare', { 1000: [1_000, 1_000, 1_000, 1_000], 10000: [1_000, 1_000, 1_000, 1_000] });
    expect(linesOf(toPage(runOf([result])))).toEqual([
      '| row | what | sizes | measured | peer | ratio | goal | met |',
      '| --- | --- | --- | --- | --- | --- | --- | --- |',
      '| `some-row` | A & B | 1,000, **10,000** pools | 830 responses/s | bare | 0.830 (0.810–0.870) | ≥ 0.85 × | **no** |',
      '| `some-row` | A & B | 1,000, **10,000** pools | 830 responses/s (810–870) |  |  | ≥ 1,500 | **no** |',
    ]);
  });

  test('compares with the best of several peers, and says why one of them did not run', () => {
    const result = createThroughput([
      { target: 'gateway', baseline: { target: ['a', 'b', 'c'], by: 'ratio' }, bound: 'at least', value: 1.1 },
    ]);
    addAll(result, 'gateway', { 1000: [120, 120], 10000: [130, 130] });
    addAll(result, 'a', { 1000: [50, 50], 10000: [50, 50] });
    addAll(result, 'b', { 1000: [100, 100], 10000: [100, 100] });
    result.explain('c', 1_000, 'it needs a newer libc');
    const page = toPage(runOf([result]));
    expect(linesOf(page).at(-1)).toBe(
      '| `some-row` | A & B | **1,000**, 10,000 pools | 120 responses/s | b | 1.20 (1.20–1.20) | ≥ 1.1 × | yes |',
    );
    expect(page).toContain('- c: it needs a newer libc');
  });

  test('shows the worst of several targets, and bounds that hold for all samples', () => {
    const result = createResult({
      title: 'Blocked',
      about: '',
      unit: 'ms',
      better: 'less',
      sizeUnit: 'pools',
      sizes: [50],
      goals: [
        { target: ['one', 'two'], bound: 'at most', value: 50 },
        { target: 'one', bound: 'at most', value: 12, isForAllSamples: true },
        { target: 'one', baseline: { target: 'two', by: 'difference' }, bound: 'at most', value: 5 },
      ],
    });
    addAll(result, 'one', { 50: [10, 11, 13] });
    addAll(result, 'two', { 50: [60, 20, 61] });
    expect(linesOf(toPage(runOf([result]))).slice(2)).toEqual([
      '| `some-row` | Blocked, the worst of 2 | 50 pools | 60 ms (20–61) |  |  | ≤ 50 | **no** |',
      '| `some-row` | Blocked: one | 50 pools | 11 ms (10–13) |  |  | always ≤ 12 | **no** |',
      '| `some-row` | Blocked: one | 50 pools | 11 ms | two | −48 (−50–−9) | ≤ 5 more | yes |',
    ]);
  });

  test('has a line for a row that failed, and for a goal without samples', () => {
    const result = createThroughput([{ target: 'gateway', bound: 'at least', value: 1 }]);
    addAll(result, 'gateway', { 1000: [1] });
    const page = toPage(runOf([result], [{ name: 'explorer', reason: 'no Chromium' }]));
    expect(linesOf(page).slice(2)).toEqual([
      '| `some-row` | A & B | 1,000, 10,000 pools | nothing |  |  | ≥ 1 | not run |',
      '| `explorer` |  |  |  |  |  |  | failed, see below |',
    ]);
    expect(page).toContain('- Row `explorer` failed: no Chromium');
  });
});

test('the chart has a panel for each result with other GraphQL servers, the fastest first, and no script', () => {
  const compared = createThroughput([]);
  addAll(compared, 'gateway', { 1000: [1], 10000: [2_000] });
  addAll(compared, 'Yoga', { 10000: [500] });
  addAll(compared, 'Mercurius with its JIT', { 10000: [2_500] });
  const alone = createThroughput([]);
  addAll(alone, 'gateway', { 10000: [3_000] });
  const chart = toChart([compared, alone]) ?? '';
  const texts = [...chart.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
  expect(texts).toEqual(['A &amp; B', 'Mercurius with its JIT', '2,500', 'gateway', '2,000', 'Yoga', '500']);
  expect(chart).not.toMatch(/<script|href|NaN|undefined/);
  expect(chart).toContain('@media (prefers-color-scheme: dark)');
  expect(toChart([alone])).toBeUndefined();
});

test('a comparison shows what became worse by more than 3 % in the whole spread', () => {
  const result = createThroughput([], 1);
  addAll(result, 'gateway, before', { 1000: [100, 100], 10000: [100, 100] });
  addAll(result, 'gateway', { 1000: [90, 91], 10000: [96, 99] });
  expect(linesOf(toComparison(runOf([result]))).slice(2)).toEqual([
    '| A & B (responses/s) | 1,000 pools | 100 | 90.5 | 0.905 (0.900–0.910) | **no** |',
    '| A & B (responses/s) | 10,000 pools | 100 | 97.5 | 0.975 (0.960–0.990) | not shown (spread) |',
  ]);
});

test('a report has the page, the raw figures of each row, and the chart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-report-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const result = createThroughput([]);
  addAll(result, 'gateway', { 10000: [2_000.123, 1] });
  addAll(result, 'Yoga', { 10000: [500] });
  writeReport(folder, 'the page', runOf([result]));
  expect(readdirSync(join(folder, 'results'))).toEqual(['chart.svg', 'some-row.json']);
  expect(readFileSync(join(folder, 'RESULTS.md'), 'utf8')).toBe('the page');
  const [raw] = JSON.parse(readFileSync(join(folder, 'results/some-row.json'), 'utf8'));
  expect(raw).toMatchObject({ title: 'A & B', samples: { gateway: { 10000: '2000 1' }, Yoga: { 10000: '500' } } });
});

test('the README has the place of the chart, and the page of the bench has a line for each row', () => {
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toMatch(/\n<!-- speed -->\n[\s\S]*\n?<!-- \/speed -->\n/);
  const page = readFileSync(join(ROOT, 'bench/README.md'), 'utf8');
  const names = readdirSync(join(ROOT, 'bench/rows')).flatMap((file) =>
    [...readFileSync(join(ROOT, 'bench/rows', file), 'utf8').matchAll(/: Row = \{\s*name: '([\w-]+)'/g)].map(
      ([, name]) => name,
    ),
  );
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !page.includes(`\n| \`${name}\` |`))).toEqual([]);
});
