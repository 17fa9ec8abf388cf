import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { buildCommand } from './package-build.ts';
import { until } from './until.ts';

/** The file that starts a gateway. */
export const START = fileURLToPath(new URL('../../src/start.js', import.meta.url));

/** A gateway in a process of its own. */
export type GatewayProcess = {
  readonly child: ChildProcess;
  readonly url: string;
  /** All that it has written to its output so far. */
  output(): string;
  /** The number of gateways in its fleet, as it sees it. */
  replicas(): Promise<number>;
};

type GatewayProcessOptions = {
  /** The sandbox whose upstreams it reads. */
  readonly of: SandboxHosts;
  readonly redisUrl: URL;
  readonly prefix: string;
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>;
};

/** Starts a gateway of a fleet, which ends with the test, and waits until it listens. */
export async function startGatewayProcess({
  of,
  redisUrl,
  prefix,
  env,
}: GatewayProcessOptions): Promise<GatewayProcess> {
  const flags = {
    port: '0',
    'fullnode-url': of.nodeUrl,
    'market-data-url': of.marketDataUrl,
    'head-poll-ms': '50',
    'history-database': 'off',
    // The blocks of the sandbox are old.
    'max-block-age-ms': '2147483647',
    'redis-url': redisUrl.href,
    'redis-prefix': prefix,
  };
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  const child = spawn(process.execPath, [await buildCommand(), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  for await (const line of createInterface(child.stdout)) {
    const { graphql } = JSON.parse(line) as { readonly graphql?: string };
    if (graphql === undefined) continue;
    child.stdout.resume();
    const ready = new URL('/ready', graphql);
    const replicas = async () => {
      const response = await fetch(ready, { headers: { connection: 'close' } });
      return ((await response.json()) as { readonly replicas: number }).replicas;
    };
    return { child, url: graphql, output: () => output, replicas };
  }
  throw new Error('the gateway has ended');
}

/** Waits until each of these gateways reads together with all others. */
export function untilSettled(...gateways: readonly GatewayProcess[]): Promise<void> {
  return until(async () => {
    const counts = await Promise.all(gateways.map((gateway) => gateway.replicas()));
    return counts.every((count) => count === gateways.length);
  });
}
