import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import type { Checkout } from './checkouts.ts';

/** The role of a process. The server has a core of its own, and with three cores the load generator and the sandbox too. */
export type Role = 'server' | 'load' | 'upstream';

const cores = allowedCores();

/** The core of a role; `undefined` if nothing is pinned, because `taskset` is missing or there is only one core. */
export function coreOf(role: Role): number | undefined {
  const [server, load, upstream = load] = cores;
  if (server === undefined || load === undefined) return undefined;
  return { server, load, upstream }[role];
}

/** Steal time: for how long the host of a virtual machine has not run the core of a role, in steps of 10 ms; 0 if unknown. */
export function stealMs(role: Role): number {
  try {
    const line = new RegExp(`^cpu${coreOf(role) ?? ''} .*$`, 'm').exec(readFileSync('/proc/stat', 'utf8'));
    const [, , , , , , , , steal] = line?.[0].split(/ +/) ?? [];
    return Number(steal ?? 0) * 10;
  } catch {
    return 0;
  }
}

/** The machine, the pinning and the versions, as lines of Markdown. In a comparison, reference servers take no part. */
export function describeMachine(checkouts: readonly Checkout[], isComparison: boolean): readonly string[] {
  const [cpu] = cpus();
  const pinning =
    cores.length < 2
      ? 'not pinned: `taskset` is missing, or there is only one core; servers and load generator disturb each other'
      : `the server on core ${coreOf('server')}, the load generator on core ${coreOf('load')}, the sandbox on core ${coreOf('upstream')} with a lower priority`;
  return [
    `- ${cpus().length} cores of ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}`,
    `- Node ${process.versions.node}`,
    `- ${pinning}`,
    `- load average over the minute before: ${(loadavg()[0] ?? 0).toFixed(2)}`,
    ...checkouts.map(({ suffix, folder }) => `- gateway${suffix}: ${commitOf(folder)}`),
    ...(isComparison ? [] : [`- reference servers: ${referenceVersions().join(', ')}`]),
  ];
}

function allowedCores(): readonly number[] {
  try {
    const output = execFileSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' });
    const list = output.slice(output.lastIndexOf(':') + 1).trim();
    return list.split(',').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
  } catch {
    return [];
  }
}

function commitOf(folder: string): string {
  try {
    const git = (...args: readonly string[]) => execFileSync('git', args, { encoding: 'utf8', cwd: folder }).trim();
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ', with changes'}`;
  } catch {
    return 'an unknown commit';
  }
}

function referenceVersions(): readonly string[] {
  const { dependencies } = readJson(new URL('package.json', import.meta.url));
  return Object.keys(dependencies).map((name) => {
    const { version } = readJson(new URL(`node_modules/${name}/package.json`, import.meta.url));
    return `${name} ${version}`;
  });
}

function readJson(url: URL) {
  return JSON.parse(readFileSync(url, 'utf8')) as {
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
}
