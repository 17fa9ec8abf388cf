import { once } from 'node:events';
import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLogOutput } from '../../src/logging/output.ts';

/** A file that cannot be written while the disk is full. */
function openFile() {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-log-'));
  const path = join(folder, 'log');
  const fd = openSync(path, 'w');
  const disk = { isFull: false };
  const { write } = fs;
  const spy = vi.spyOn(fs, 'write').mockImplementation(((to: number, ...rest: unknown[]) => {
    if (to !== fd || !disk.isFull) return Reflect.apply(write, fs, [to, ...rest]);
    const error = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    setImmediate(rest.at(-1) as (error: Error) => void, error);
  }) as unknown as typeof fs.write);
  onTestFinished(() => {
    spy.mockRestore();
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  return { fd, disk, text: () => readFileSync(path, 'utf8') };
}

test('while the disk is full, lines wait up to a maximum, and nothing blocks; all of them are written with the next line', async () => {
  const { fd, disk, text } = openFile();
  const output = createLogOutput(fd, 30);
  disk.isFull = true;
  const failed = once(output, 'error');
  output.write('first\n');
  await failed;
  output.flushSync();
  const failedAgain = once(output, 'error');
  for (let n = 0; n < 10; n++) output.write(`line ${n}\n`);
  await failedAgain;
  expect(text()).toBe('');

  disk.isFull = false;
  const written = once(output, 'drain');
  output.write('it is too long\n');
  await written;
  expect(text()).toBe('first\nline 0\nline 1\nline 2\n');
  output.write('last\n');
  output.write('at the exit\n');
  output.flushSync();
  await expect.poll(text).toContain('last\n');
  expect(text()).toContain('at the exit\n');
});
