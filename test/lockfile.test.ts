import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type LockedPackage = {
  readonly version?: string;
  readonly resolved?: string;
  /** Whether it is a folder of this repository. */
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const packages = readLocked('../package-lock.json');

function readLocked(path: string): Readonly<Record<string, LockedPackage>> {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).packages;
}

test.each(['../package-lock.json', '../bench/package-lock.json'])('%s names no registry', (path) => {
  const packages = readLocked(path);
  expect(Object.entries(packages).filter(([, { resolved, link }]) => resolved !== undefined && !link)).toEqual([]);
});

// A registry that lacks the packages of other platforms makes npm leave them out, and `npm ci` then fails everywhere.
test('the lockfile has the linter of every platform', () => {
  const platforms = packages['node_modules/@biomejs/biome']?.optionalDependencies ?? {};
  expect(Object.keys(platforms).length).toBeGreaterThan(5);
  const locked = Object.keys(platforms).map((name) => [name, packages[`node_modules/${name}`]?.version]);
  expect(Object.fromEntries(locked)).toEqual(platforms);
});

test.each(['../package-lock.json', '../bench/package-lock.json'])('there is one graphql in the tree of %s', (path) => {
  expect(Object.keys(readLocked(path)).filter((path) => path.endsWith('node_modules/graphql'))).toEqual([
    'node_modules/graphql',
  ]);
});

test('each folder with packages of its own has the settings of npm, which name no registry', () => {
  const folders = globSync(['{bench,examples/*}/package.json', 'package.json'], {
    cwd: new URL('..', import.meta.url),
  });
  const settings = folders.map((path) =>
    readFileSync(new URL(`../${path.replace('package.json', '.npmrc')}`, import.meta.url), 'utf8'),
  );
  expect(settings.length).toBeGreaterThan(3);
  expect(settings.map((text) => text.replace(/^#.*\n/gm, ''))).toEqual(settings.map(() => 'loglevel=error\n'));
});
