import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxOptions } from '../src/sandbox/sandbox.ts';
import { createFolder } from './folders.ts';
import { type BenchProcess, startProcess } from './processes.ts';
import type { SandboxFacts } from './sandbox.ts';

const MAIN = '../src/main.ts';

/** The upstreams, started. */
export type SandboxProcess = BenchProcess & { readonly facts: SandboxFacts };

/** Starts the upstreams; blocks are made when the bench says so. */
export async function startSandbox(options: SandboxOptions): Promise<SandboxProcess> {
  const bench = await startProcess({ place: 'upstream', file: 'sandbox.ts' });
  return { ...bench, facts: await bench.ask<SandboxFacts>('start', { seed: 1, history: 2, ...options }) };
}

/** Starts the gateway as whoever tries it would: without a setting but its port, so that its own sandbox plays the upstreams. */
export function startGatewayAlone(): Promise<BenchProcess> {
  return startMain(createFolder(), {});
}

/** Starts the gateway as an operator would, in front of a sandbox; `env` holds settings other than the defaults. */
export function startGateway(
  { facts }: SandboxProcess,
  env: Readonly<Record<string, string>> = {},
): Promise<BenchProcess> {
  // A folder of its own: no .env of whoever runs the bench is read, and the tokens file lies there.
  const folder = createFolder();
  const tokensFile = join(folder, 'tokens.json');
  writeFileSync(tokensFile, JSON.stringify(facts.tokens));
  return startMain(folder, {
    FULLNODE_URL: facts.nodeUrl,
    MARKET_DATA_URL: facts.marketDataUrl,
    TOKENS_FILE: tokensFile,
    ...env,
  });
}

function startMain(cwd: string, env: Readonly<Record<string, string>>): Promise<BenchProcess> {
  return startProcess({
    place: 'server',
    file: MAIN,
    flags: flagsOf(new URL(MAIN, import.meta.url)),
    cwd,
    env: { PORT: '0', ...env },
    servesAt: (line) => /"graphql":"([^"]+)"/.exec(line)?.[1],
  });
}

/** The flags of Node that the first line of a file starts it with. */
function flagsOf(file: URL): readonly string[] {
  const [line = ''] = readFileSync(file, 'utf8').split('\n');
  return line.split(' ').filter((word) => word.startsWith('--'));
}
