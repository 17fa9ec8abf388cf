import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type LockedPackage = {
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Readonly<Record<string, LockedPackage>>;
};

test('the lockfile names no registry', () => {
  expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

// A registry that lacks the packages of other platforms makes npm leave them out, and `npm ci` then fails everywhere.
test('the lockfile has the linter of every platform', () => {
  const platforms = packages['node_modules/@biomejs/biome']?.optionalDependencies ?? {};
  expect(Object.keys(platforms).length).toBeGreaterThan(5);
  const locked = Object.keys(platforms).map((name) => [name, packages[`node_modules/${name}`]?.version]);
  expect(Object.fromEntries(locked)).toEqual(platforms);
});

test('there is one graphql in the tree', () => {
  expect(Object.keys(packages).filter((path) => path.endsWith('node_modules/graphql'))).toEqual([
    'node_modules/graphql',
  ]);
});
