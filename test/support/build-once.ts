import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '../..');

/** Something that takes seconds to build, and that several test files need. */
export type Build = {
  readonly name: string;
  /** A file that is written each time. */
  readonly output: string;
  /** Patterns of the files that it is made of, from the root folder. */
  readonly sources: readonly string[];
  readonly build: () => Promise<unknown>;
};

/**
 * Builds something unless nothing has changed since the last build. Other workers wait meanwhile, so that a run builds it at
 * most once.
 */
export async function buildOnce({ name, output, sources, build }: Build): Promise<void> {
  /** Contains the id of the process that builds. */
  const lock = join(ROOT, 'node_modules', `.building-${name}`);
  const paths = globSync(sources, { cwd: ROOT });
  const isFresh = () => paths.every((path) => modifiedAt(join(ROOT, path)) <= modifiedAt(output));

  // Until the lock is gone, the build is not complete.
  while (!isFresh() || existsSync(lock)) {
    if (!takeLock(lock)) {
      // Another worker builds.
      await wait(100);
      continue;
    }
    try {
      if (!isFresh()) await build();
      if (!isFresh()) throw new Error(`the build of ${name} has not written ${output}`);
    } finally {
      rmSync(lock, { force: true });
    }
  }
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** @returns whether this process may build: no other one does */
function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isRunning(Number(readLock(lock)))) rmSync(lock, { force: true });
    return false;
  }
}

function readLock(lock: string): string {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return String(process.pid);
  }
}

function isRunning(processId: number): boolean {
  try {
    // A lock that is being written is empty.
    return processId === 0 || process.kill(processId, 0);
  } catch {
    return false;
  }
}
