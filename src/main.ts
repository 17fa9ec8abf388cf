import { existsSync } from 'node:fs';
import { createApp, readVersion } from './app.ts';
import { createLog } from './log.ts';
import { createSandbox, type Sandbox } from './sandbox/sandbox.ts';
import { helpText } from './settings/help-text.ts';
import { ConfigError, readConfig } from './settings/read-config.ts';
import { redactorOf } from './settings/secrets.ts';
import type { Config } from './settings/settings.ts';
import { findUnknownVariables } from './settings/unknown-variables.ts';

async function main(args: readonly string[]): Promise<void> {
  const config = readConfigOrExit(args);
  if (config === 'help') return void process.stdout.write(helpText());
  if (config === 'version') return void process.stdout.write(`${readVersion()}\n`);
  await serve(config);
}

function readConfigOrExit(args: readonly string[]): ReturnType<typeof readConfig> {
  try {
    return readConfig(args, process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) process.stderr.write(`pdex-gateway: ${problem}\n`);
    process.exit(2);
  }
}

async function serve(config: Config): Promise<void> {
  const log = await createLog(config.logLevel, redactorOf(config));
  process.once('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the process exits because of an uncaught error');
    process.exit(1);
  });
  const isSandbox = config.fullnodeUrls.length === 0 && config.marketDataUrl === undefined;
  const sandbox = isSandbox ? await createSandbox({ blockMs: config.sandboxBlockMs }) : undefined;
  for (const unknown of findUnknownVariables(process.env)) log.warn(unknown);
  if (sandbox) log.warn('the built-in sandbox simulates the node and the market data: no price is real');

  const effective = sandbox ? withSandbox(sandbox, config) : config;
  const app = createApp({ config: effective, isSandbox, log });
  onStopSignal(async (signal) => {
    log.info({ signal }, 'stopping');
    await app.close();
    await sandbox?.close();
    process.exit(0);
  });

  try {
    const url = await app.listen(config.port, config.host);
    const upstreams = { node: hosts(effective.fullnodeUrls), marketData: effective.marketDataUrl?.host };
    log.info({ graphql: url, ...upstreams }, 'serving');
  } catch (error) {
    const host = config.host.includes(':') ? `[${config.host}]` : config.host;
    log.fatal(`cannot listen on ${host}:${config.port}: ${listenProblem(error)}`);
    process.exit(1);
  }
}

/** Why the server cannot listen, in words. */
function listenProblem(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return LISTEN_ERRORS.get(code) ?? message;
}

const LISTEN_ERRORS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use'],
  ['EACCES', 'this user has no permission to use the port'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
  ['ENOTFOUND', 'the host is unknown'],
  ['EAI_AGAIN', 'the host is unknown'],
]);

/** npm and its shell forward a signal that the process has already received. Only a later one stops it immediately. */
const DUPLICATE_SIGNAL_MS = 1_000;

function onStopSignal(stop: (signal: NodeJS.Signals) => Promise<void>): void {
  let firstAt: number | undefined;
  function handle(signal: NodeJS.Signals): void {
    if (firstAt === undefined) {
      firstAt = performance.now();
      void stop(signal);
    } else if (performance.now() - firstAt > DUPLICATE_SIGNAL_MS) {
      process.exit(1);
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, handle);
}

/** The settings with the sandbox as both upstreams, and with its tokens. The configured tokens override them. */
function withSandbox(sandbox: Sandbox, config: Config): Config {
  const tokens = sandbox.chain.tokens
    .filter((token) => token.symbol !== undefined)
    .map(({ id, symbol, decimals }) => ({ tokenId: id, symbol, decimals }));
  return {
    ...config,
    fullnodeUrls: [new URL(sandbox.nodeUrl)],
    marketDataUrl: new URL(sandbox.marketDataUrl),
    tokens: [...tokens, ...config.tokens],
  };
}

function hosts(urls: readonly URL[]): string[] {
  return urls.map((url) => url.host);
}

if (existsSync('.env')) process.loadEnvFile();
await main(process.argv.slice(2));
