import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs `node` of this machine that are older than the gateway needs. */
export function oldNodes(): string[] {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const nodes = paths.filter((path) => existsSync(path));
  // The same program can be in two folders: /bin is often a link to /usr/bin.
  const different = new Map(nodes.map((node) => [realpathSync(node), node]));
  return [...different.values()].filter((node) => {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' });
    return Number.parseInt(version.slice(1), 10) < 24;
  });
}
