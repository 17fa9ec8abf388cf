import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTemporaryFolder } from './temporary-folders.ts';

/** A checkout of the repository, whose gateway is measured. */
export type Checkout = {
  /** What follows the name of a target of this checkout in reports: empty for the checkout of this bench. */
  readonly suffix: string;
  readonly folder: string;
  /** Further settings of its gateway. */
  readonly env?: Readonly<Record<string, string>>;
};

/** What follows the name of a target of the other checkout in a comparison. */
export const BEFORE = ', before';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * The checkout of this bench; in a comparison, that of the other commit comes first. The other one is a worktree of git in a temporary
 * folder, in which `npm ci` is run. Both disappear when the bench ends.
 *
 * @throws Error if git does not know the commit, or packages are not installed
 */
export function openCheckouts(before: string | undefined, log: (text: string) => void): readonly Checkout[] {
  if (!existsSync(join(ROOT, 'node_modules'))) throw new Error('run `npm ci` in the root of the repository first');
  const after = { suffix: '', folder: ROOT };
  if (before === undefined) return [after];

  const folder = join(createTemporaryFolder(), 'before');
  execFileSync('git', ['worktree', 'add', '--detach', folder, before], { cwd: ROOT, stdio: 'pipe' });
  process.once('exit', () =>
    execFileSync('git', ['worktree', 'remove', '--force', folder], { cwd: ROOT, stdio: 'pipe' }),
  );
  log(`npm ci in a checkout of ${before}`);
  installPackages(folder);
  return [{ suffix: BEFORE, folder }, after];
}

/** Runs `npm ci` with the Node of this process, which may be newer than that of the machine. */
function installPackages(folder: string): void {
  const npm = process.env['npm_execpath'];
  const [command, ...args] = npm === undefined ? ['npm'] : [process.execPath, npm];
  execFileSync(command ?? 'npm', [...args, 'ci'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}
