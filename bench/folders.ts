import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Makes a folder that is gone at the end of the bench, however that comes. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-bench-'));
  made.push(folder);
  return folder;
}
