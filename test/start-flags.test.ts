import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('Node is told the same by whichever way the gateway is started', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: { readonly start: string } };
  const command = scripts.start.replace(' src/main.ts', '');
  expect(command).toBe('node --max-semi-space-size=8 --no-allocation-site-pretenuring');
  expect(read('src/main.ts').split('\n', 1)).toEqual([`#!/usr/bin/env -S ${command}`]);
  expect(read('README.md')).toContain(`\`${scripts.start}\``);
});
