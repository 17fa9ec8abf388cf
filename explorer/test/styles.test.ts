import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const EXPLORER = join(import.meta.dirname, '..');

/** The rules of `@media (hover: hover)`, as Biome formats them: the end of the block is the first brace without indentation. */
const FOR_A_MOUSE = /^@media \(hover: hover\) \{\n.*?^\}/gms;

test('only a mouse changes what it is over: after a tap, a phone would keep that style', () => {
  const files = globSync('src/**/*.css', { cwd: EXPLORER });
  expect(files.length).toBeGreaterThan(20);
  const forAny = files.filter((file) =>
    readFileSync(join(EXPLORER, file), 'utf8').replace(FOR_A_MOUSE, '').includes(':hover'),
  );
  expect(forAny).toEqual([]);
});
