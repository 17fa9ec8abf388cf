import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxHostsOptions } from '../src/sandbox/sandbox.ts';
import type { Checkout } from './checkouts.ts';
import { type SandboxProcess, startGateway, startSandbox } from './gateway.ts';
import { type BenchProcess, startProcess } from './processes.ts';
import type { SandboxFacts } from './sandbox.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { GATEWAY, REFERENCE_SERVERS } from './targets.ts';
import { createTemporaryFolder } from './temporary-folders.ts';

/** A sandbox of some size, the gateways in front of it, and reference servers with the same data. */
export type Testbed = AsyncDisposable & {
  readonly sandbox: SandboxProcess;
  /** The gateway of this checkout. */
  readonly gateway: BenchProcess;
  /** The gateways of all checkouts by name. */
  readonly gateways: ReadonlyMap<string, BenchProcess>;
  readonly snapshot: Snapshot;
  /** Why reference servers could not start, by name. */
  readonly missing: ReadonlyMap<string, string>;
  /** Starts a reference server by its name. It ends with the testbed. @returns `undefined` if it cannot run here */
  startReference(name: string): Promise<BenchProcess | undefined>;
  /** Runs work during which the other gateways are paused: they read the sandbox and would use the core of the server. */
  alone<Value>(server: BenchProcess, work: () => Promise<Value>): Promise<Value>;
};

/** Settings other than the defaults. */
type Env = Readonly<Record<string, string>>;

/** Starts a sandbox and the gateways, with settings other than the defaults in `env`, which may name the sandbox. */
export async function startTestbed(
  checkouts: readonly Checkout[],
  options: SandboxHostsOptions,
  env: Env | ((sandbox: SandboxFacts) => Env) = {},
): Promise<Testbed> {
  const started: BenchProcess[] = [];
  try {
    const sandbox = await startSandbox(options);
    started.push(sandbox);
    const settings = typeof env === 'function' ? env(sandbox.facts) : env;
    const gateways = new Map<string, BenchProcess>();
    for (const checkout of checkouts) {
      const gateway = await startGateway(sandbox, { checkout, env: settings });
      started.push(gateway);
      gateways.set(`${GATEWAY}${checkout.suffix}`, gateway);
    }
    const gateway = gateways.get(GATEWAY);
    if (gateway === undefined) throw new Error('the gateway of this checkout takes no part');
    // All gateways execute the same requests before they are measured.
    for (const each of gateways.values()) if (each !== gateway) await takeSnapshot(each.url);
    const snapshot = await takeSnapshot(gateway.url);
    const missing = new Map<string, string>();
    const file = join(createTemporaryFolder(), 'snapshot.json');
    writeFileSync(file, JSON.stringify(snapshot));

    return {
      sandbox,
      gateway,
      gateways,
      snapshot,
      missing,
      async startReference(name) {
        const reference = REFERENCE_SERVERS.get(name);
        if (!reference) throw new Error(`there is no reference server named ${name}`);
        const args = [file, ...(reference.args ?? [])];
        try {
          const server = await startProcess({ role: 'server', file: reference.file, args });
          started.push(server);
          return server;
        } catch (error) {
          missing.set(name, error instanceof Error ? error.message : String(error));
          return undefined;
        }
      },
      async alone(server, work) {
        const others = [...gateways.values()].filter((each) => each !== server);
        for (const each of others) each.pause();
        try {
          return await work();
        } finally {
          for (const each of others) each.resume();
        }
      },
      [Symbol.asyncDispose]: () => stopAll(started),
    };
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

async function stopAll(processes: readonly BenchProcess[]): Promise<void> {
  await Promise.all(processes.map((each) => each.stop()));
}
