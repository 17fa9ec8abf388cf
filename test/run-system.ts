#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { startVitest, type TestModule, type Vitest } from 'vitest/node';
import { buildPackage } from './support/package-build.ts';

/*
 * Runs the system tests in three lanes beside each other. Those of the explorer and those that start other processes run one file at a
 * time each, after the package is built with its explorer. The third lane has the slow ones, and then those with Redis or a database. A
 * file that fails is run once more, alone, after the others. If it passes then, its name and its first error are printed at the end,
 * and written to the file that the first argument names. The status is 1 if a file fails twice, if more than five fail at first, if an
 * error belongs to no file, or if a test is skipped in CI.
 */

/** More failed files than these are not run again: so many do not fail by chance. */
const MAX_REPEATED = 5;

/** The projects of `vitest.config.ts`. Those of one lane run one after another, so that the lanes take about the same time. */
const LANES = [['processes'], ['browsers'], ['slow', 'databases']] as const;

type Project = (typeof LANES)[number][number];

/** What a run of Vitest has found. */
type Outcome = {
  readonly project: Project;
  /** How long each file took, in seconds. */
  readonly seconds: readonly (readonly [path: string, seconds: number])[];
  /** The first error of each file that failed, by its path. */
  readonly failed: ReadonlyMap<string, string>;
  readonly passed: number;
  /** The names of the tests that were skipped. */
  readonly skipped: readonly string[];
};

const NO_TESTS = ['(no tests)', 'Vitest has not run a test'] as const;

/** @param path runs this file only */
async function runTests(project: Project, path?: string): Promise<Outcome> {
  const vitest = await startVitest(path === undefined ? [] : [path], { project: [project], watch: false });
  const modules = vitest.state.getTestModules();
  const tests = modules.flatMap((each) => [...each.children.allTests()]);
  return {
    project,
    seconds: modules.map((each) => [nameOf(each.moduleId), each.diagnostic().duration / 1_000]),
    failed: new Map([
      ...unhandledErrorsOf(vitest),
      ...failuresOf(modules),
      ...(modules.length === 0 ? [NO_TESTS] : []),
    ]),
    passed: tests.filter((test) => test.result().state === 'passed').length,
    // If a hook fails, Vitest skips the tests of its file. They are run again.
    skipped: tests
      .filter((test) => test.result().state === 'skipped' && test.module.ok())
      .map((test) => `${nameOf(test.module.moduleId)} > ${test.fullName}`),
  };
}

/** @param built resolves when the package is built: only the slow tests do not use it */
async function runLane(projects: readonly Project[], built: Promise<unknown>): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  if (!projects.includes('slow')) await built;
  for (const project of projects) outcomes.push(await runTests(project));
  return outcomes;
}

function failuresOf(modules: readonly TestModule[]): [string, string][] {
  return modules
    .filter((module) => !module.ok())
    .map((module) => {
      const [ofTest] = module.children.allTests('failed');
      const [error] = ofTest?.result().errors ?? module.errors();
      return [nameOf(module.moduleId), firstLine(`${ofTest?.fullName ?? ''}: ${error?.message}`)];
    });
}

/** Errors outside of any test, such as rejected promises that nobody handles, by the file that ran then. */
function unhandledErrorsOf({ state }: Vitest): [string, string][] {
  return state.getUnhandledErrors().map((error) => {
    const { message, VITEST_TEST_PATH: path } = error as Error & { readonly VITEST_TEST_PATH?: string };
    return [path === undefined ? '(no file)' : nameOf(path), firstLine(`unhandled: ${message}`)];
  });
}

function nameOf(path: string): string {
  return relative(process.cwd(), path);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function print(title: string, lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`\n${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`);
}

/** How many of the slowest files are printed. */
const SLOWEST = 10;

const [reportFile] = process.argv.slice(2);
const built = buildPackage();
const outcomes = (await Promise.all(LANES.map((lane) => runLane(lane, built)))).flat();
const failed = outcomes.flatMap(({ project, failed }) =>
  [...failed].map(([path, error]) => ({ project, path, error })),
);
const skipped = outcomes.flatMap((outcome) => outcome.skipped);

const failedTwice: string[] = [];
const repeated: string[] = [];
if (failed.length <= MAX_REPEATED) {
  for (const { project, path, error } of failed) {
    const { failed: again, skipped: skippedAgain } = await runTests(project, path);
    skipped.push(...skippedAgain);
    if (again.size > 0) failedTwice.push(path);
    else repeated.push(`${path}: ${error}`);
  }
}

const lacksTests = process.env['CI'] !== undefined && skipped.length > 0;
const isPassed = failed.length <= MAX_REPEATED && failedTwice.length === 0 && !lacksTests;
if (failed.length > MAX_REPEATED)
  print(
    'failed, too many to be run again',
    failed.map(({ path }) => path),
  );
print('failed twice', failedTwice);
if (lacksTests) print('skipped, although CI has all that it needs', skipped);
print('passed at the second attempt', repeated);
if (reportFile !== undefined) writeFileSync(reportFile, repeated.map((line) => `${line}\n`).join(''));
const slowest = outcomes.flatMap(({ seconds }) => seconds).sort(([, one], [, other]) => other - one);
print(
  'the slowest files',
  slowest.slice(0, SLOWEST).map(([path, seconds]) => `${seconds.toFixed(1)} s ${path}`),
);
const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
process.stdout.write(`\n${passed} passed, ${failed.length - repeated.length} failed, ${skipped.length} skipped\n`);
process.exit(isPassed ? 0 : 1);
