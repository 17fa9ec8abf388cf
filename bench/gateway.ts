import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxHostsOptions } from '../src/sandbox/sandbox.ts';
import type { Checkout } from './checkouts.ts';
import { type BenchProcess, startProcess } from './processes.ts';
import type { SandboxFacts } from './sandbox.ts';
import { createTemporaryFolder } from './temporary-folders.ts';

/** A running sandbox. */
export type SandboxProcess = BenchProcess & { readonly facts: SandboxFacts };

/** Starts the sandbox, which plays the upstreams. It creates blocks only on command. */
export async function startSandbox(options: SandboxHostsOptions): Promise<SandboxProcess> {
  const process = await startProcess({ role: 'upstream', file: 'sandbox.ts' });
  return { ...process, facts: await process.call<SandboxFacts>('start', { seed: 1, history: 2, ...options }) };
}

/** How a gateway is started. */
export type GatewayOptions = {
  readonly checkout: Checkout;
  /** Settings other than the defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** The file that is started, from the root of the checkout; `src/start.js` by default. */
  readonly file?: string;
  /** See {@link startProcess}. */
  readonly isPlain?: boolean;
};

/** Starts the gateway without upstreams, so that its own sandbox plays them. */
export function startGatewayWithOwnSandbox(options: GatewayOptions): Promise<BenchProcess> {
  return startMain(createTemporaryFolder(), { ...options, env: { SANDBOX: 'true', ...options.env } });
}

/** Starts the gateway in front of a sandbox. */
export function startGateway({ facts }: SandboxProcess, options: GatewayOptions): Promise<BenchProcess> {
  // In a folder of its own, it does not read the .env file of the checkout.
  const folder = createTemporaryFolder();
  const tokensFile = join(folder, 'tokens.json');
  writeFileSync(tokensFile, JSON.stringify(facts.tokens));
  const upstreams = {
    FULLNODE_URL: facts.nodeUrl,
    MARKET_DATA_URL: facts.marketDataUrl,
    TOKENS_FILE: tokensFile,
    // The reads of missing heights would come between the calls that rows count.
    HISTORY_BACKFILL_HOURS: '0',
  };
  return startMain(folder, { ...options, env: { ...upstreams, ...options.env } });
}

function startMain(
  cwd: string,
  { checkout, env, file = 'src/start.js', isPlain = false }: GatewayOptions,
): Promise<BenchProcess> {
  return startProcess({
    isPlain,
    role: 'server',
    file: join(checkout.folder, file),
    flags: flagsOfStart(checkout),
    cwd,
    env: { PORT: '0', ...env, ...checkout.env },
    urlIn: (line) => /"graphql":"([^"]+)"/.exec(line)?.[1],
  });
}

/** The flags of Node in the script `start`: `exec node [flag ...] src/start.js`. */
export function flagsOfStart({ folder }: Checkout): readonly string[] {
  const text = readFileSync(join(folder, 'package.json'), 'utf8');
  const { scripts } = JSON.parse(text) as { readonly scripts: { readonly start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('-'));
}
