import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs `node` of this machine that are older than the gateway needs. */
export function oldNodes(): string[] {
  const nodes = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return nodes.filter((node) => {
    if (!existsSync(node)) return false;
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' });
    return Number.parseInt(version.slice(1), 10) < 24;
  });
}
