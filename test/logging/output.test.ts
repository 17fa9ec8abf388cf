import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLogOutput } from '../../src/logging/output.ts';

type Written = (error: NodeJS.ErrnoException | null, bytes: number, lines: readonly NodeJS.ArrayBufferView[]) => void;

/** A file that cannot be written while the disk is full, and that takes a number of bytes at once. */
function openFile() {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-log-'));
  const path = join(folder, 'log');
  const fd = openSync(path, 'w');
  const disk = { isFull: false, error: 'ENOSPC', bytesPerWrite: Number.POSITIVE_INFINITY };
  const failed = Promise.withResolvers<void>();
  const { writev } = fs;
  /** How many writes have ended. */
  let ended = 0;
  const spy = vi.spyOn(fs, 'writev').mockImplementation(((to: number, lines: Buffer[], done: Written) => {
    if (to !== fd) return writev(to, lines, done);
    const end: Written = (...result) => {
      done(...result);
      ended += 1;
    };
    if (!disk.isFull) return writev(fd, [Buffer.concat(lines).subarray(0, disk.bytesPerWrite)], end);
    const error = Object.assign(new Error('it cannot be written'), { code: disk.error });
    setImmediate(() => {
      end(error, 0, lines);
      failed.resolve();
    });
  }) as unknown as typeof fs.writev);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  return { fd, disk, failed: failed.promise, ended: () => ended, text: () => readFileSync(path, 'utf8') };
}

test('while the disk is full, lines wait up to a maximum, and nothing blocks; all of them are written with the next line', async () => {
  const { fd, disk, ended, text } = openFile();
  const output = createLogOutput(fd, 30);
  disk.isFull = true;
  output.write('first\n');
  await expect.poll(ended).toBe(1);
  for (let n = 0; n < 10; n++) output.write(`line ${n}\n`);
  await expect.poll(ended).toBe(2);
  expect(text()).toBe('');

  disk.isFull = false;
  output.write('it is too long\n');
  await expect.poll(ended).toBe(3);
  expect(text()).toBe('first\nline 0\nline 1\nline 2\n');
  output.write('last\n');
  output.write('at the exit\n');
  output.flushSync();
  await expect.poll(text).toContain('last\n');
  expect(text()).toContain('at the exit\n');
});

test('a process that ends does not wait for a full disk, although no line has failed yet', () => {
  // It stays open: a write of the first line is still going on at the end of the test.
  const output = createLogOutput(openSync('/dev/full', 'w'));
  for (let n = 0; n < 3; n++) output.write(`line ${n}\n`);
  output.flushSync();
});

test('a process that ends writes the lines that wait for a slow collector, in their order', async () => {
  const { fd, disk, failed, text } = openFile();
  Object.assign(disk, { isFull: true, error: 'EAGAIN' });
  const output = createLogOutput(fd);
  output.write('first\n');
  await failed;
  output.write('last\n');
  output.flushSync();
  expect(text()).toBe('first\nlast\n');
});

test('many lines, of which a write can end anywhere, arrive in their order', async () => {
  const { fd, disk, text } = openFile();
  disk.bytesPerWrite = 1_001;
  const output = createLogOutput(fd);
  const lines = Array.from({ length: 3_000 }, (_, n) => `line ${n}, with the sign ₿, which has several bytes\n`);
  for (const line of lines) output.write(line);
  await expect.poll(text).toBe(lines.join(''));
});
