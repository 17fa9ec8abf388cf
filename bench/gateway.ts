import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxOptions } from '../src/sandbox/sandbox.ts';
import { createFolder } from './folders.ts';
import { type BenchProcess, startProcess } from './processes.ts';
import type { SandboxFacts } from './sandbox.ts';

/** The upstreams, started. */
export type SandboxProcess = BenchProcess & { readonly facts: SandboxFacts };

/** Starts the upstreams; blocks are made when the bench says so. */
export async function startSandbox(options: SandboxOptions): Promise<SandboxProcess> {
  const bench = await startProcess({ place: 'upstream', file: 'sandbox.ts' });
  return { ...bench, facts: await bench.ask<SandboxFacts>('start', { seed: 1, history: 2, ...options }) };
}

/** How a gateway is started, where it matters. */
export type GatewayStart = {
  /** Settings other than the defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** Without anything of the bench in it; see {@link startProcess}. */
  readonly isAsItIs?: boolean;
};

/** Starts the gateway as whoever tries it would: without a setting but its port, so that its own sandbox plays the upstreams. */
export function startGatewayAlone(start: GatewayStart): Promise<BenchProcess> {
  return startMain(createFolder(), { ...start, env: { SANDBOX: 'true', ...start.env } });
}

/** Starts the gateway as an operator would, in front of a sandbox. */
export function startGateway({ facts }: SandboxProcess, start: GatewayStart = {}): Promise<BenchProcess> {
  // A folder of its own: no .env of whoever runs the bench is read, and the tokens file lies there.
  const folder = createFolder();
  const tokensFile = join(folder, 'tokens.json');
  writeFileSync(tokensFile, JSON.stringify(facts.tokens));
  const upstreams = {
    FULLNODE_URL: facts.nodeUrl,
    MARKET_DATA_URL: facts.marketDataUrl,
    TOKENS_FILE: tokensFile,
  };
  return startMain(folder, { ...start, env: { ...upstreams, ...start.env } });
}

function startMain(cwd: string, { env, isAsItIs = false }: GatewayStart): Promise<BenchProcess> {
  return startProcess({
    isAsItIs,
    place: 'server',
    file: '../src/start.js',
    flags: flagsOfStart(),
    cwd,
    env: { PORT: '0', ...env },
    servesAt: (line) => /"graphql":"([^"]+)"/.exec(line)?.[1],
  });
}

/** The flags of Node in `npm start`: `exec node [flag ...] src/start.js`. */
function flagsOfStart(): readonly string[] {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { scripts } = JSON.parse(text) as { readonly scripts: { readonly start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('-'));
}
