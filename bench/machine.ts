import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

/** Where a process runs: the server that is measured has a core to itself, and so has the load where there are three. */
export type Place = 'server' | 'load' | 'upstream';

const cores = allowedCores();

/** The core of a place; `undefined` where the machine has no `taskset`, or one core only: then nothing is pinned. */
export function coreOf(place: Place): number | undefined {
  const [server, load, upstream = load] = cores;
  if (server === undefined || load === undefined) return undefined;
  return { server, load, upstream }[place];
}

/**
 * For how many milliseconds since it started the host of this machine has kept the core of a place from it, in steps of
 * 10 ms; 0 where the system does not tell.
 */
export function withheldMs(place: Place): number {
  try {
    const line = new RegExp(`^cpu${coreOf(place) ?? ''} .*$`, 'm').exec(readFileSync('/proc/stat', 'utf8'));
    const [, , , , , , , , steal] = line?.[0].split(/ +/) ?? [];
    return Number(steal ?? 0) * 10;
  } catch {
    return 0;
  }
}

/** What the figures were measured on, as lines of Markdown. */
export function describeMachine(): readonly string[] {
  const [cpu] = cpus();
  const pinning =
    cores.length < 2
      ? 'not pinned: `taskset` is missing, or there is one core only; servers and load get in the way of each other'
      : `the server on core ${coreOf('server')}, the load on core ${coreOf('load')}, the upstreams on core ${coreOf('upstream')} with a lower priority`;
  return [
    `- ${cpus().length} cores of ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}`,
    `- Node ${process.versions.node}`,
    `- ${pinning}`,
    `- load average over the minute before: ${(loadavg()[0] ?? 0).toFixed(2)}`,
    `- gateway at ${commit()}`,
    `- peers: ${peerVersions().join(', ')}`,
  ];
}

function allowedCores(): readonly number[] {
  try {
    const told = execFileSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' });
    const list = told.slice(told.lastIndexOf(':') + 1).trim();
    return list.split(',').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
  } catch {
    return [];
  }
}

function commit(): string {
  try {
    const git = (...args: readonly string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ', with changes'}`;
  } catch {
    return 'an unknown commit';
  }
}

function peerVersions(): readonly string[] {
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
