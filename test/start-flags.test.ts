import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('Node is told the same by whichever way the gateway is started', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: { readonly start: string } };
  // With `exec` the shell of npm becomes the gateway: signals that npm passes on reach it.
  expect(scripts.start).toMatch(/^exec node .* src\/start\.js$/);
  const started = scripts.start.replace('exec ', '');
  const command = started.replace(' src/start.js', '');
  expect(command).toBe('node --max-semi-space-size=8 --no-allocation-site-pretenuring');
  expect(read('src/start.js').split('\n', 1)).toEqual([`#!/usr/bin/env -S ${command}`]);
  expect(read('docs/operating.md')).toContain(`\`${started}\``);
});

test.each([
  [undefined, '16'],
  ['5', '5'],
])('with UV_THREADPOOL_SIZE=%s, %s threads look up host names and do other work', (size, used) => {
  const env = { ...process.env, UV_THREADPOOL_SIZE: size };
  const start = fileURLToPath(new URL('../src/start.js', import.meta.url));
  const report = "data:text/javascript,process.on('exit', () => console.log(process.env.UV_THREADPOOL_SIZE))";
  const args = ['--import', report, start, '--version'];
  expect(execFileSync(process.execPath, args, { env, encoding: 'utf8' }).split('\n')[1]).toBe(used);
});

test('what installing keeps of the code is what the first start looks for', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: { readonly prepare: string } };
  // By the same script, so with the same flags: Node looks for what it has compiled by them.
  expect(scripts.prepare).toBe('npm run --silent start -- --version || exit 0');
  const folder = mkdtempSync(join(tmpdir(), 'kept-code-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = { ...process.env, NODE_COMPILE_CACHE: folder };
  const start = fileURLToPath(new URL('../src/start.js', import.meta.url));
  expect(execFileSync(process.execPath, [start, '--version'], { env, encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(1_000);
});
