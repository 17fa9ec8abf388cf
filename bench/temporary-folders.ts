import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const created: string[] = [];
process.once('exit', () => {
  for (const folder of created) rmSync(folder, { recursive: true, force: true });
});

/** Creates a folder that is deleted when the bench ends, also when it fails. */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-bench-'));
  created.push(folder);
  return folder;
}
