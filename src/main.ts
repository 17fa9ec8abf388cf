import { existsSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { readVersion, startApp } from './compose/app.ts';
import { createLog, type Log } from './logging/log.ts';
import { readTextFile } from './settings/files.ts';
import { ConfigError } from './settings/kinds.ts';
import { findIgnoredVariables, readConfig, usesProxies } from './settings/read-config.ts';
import { redactorOf } from './settings/secrets.ts';
import { type Config, helpText } from './settings/settings.ts';
import { findUnknownVariables } from './settings/unknown-variables.ts';

/** @throws ConfigError if settings are wrong */
async function main(args: readonly string[]): Promise<void> {
  if (existsSync(ENV_FILE)) loadEnvFile();
  const config = readConfig(args, process.env);
  if (config === 'help') return void process.stdout.write(helpText());
  if (config === 'version') return void process.stdout.write(`${readVersion()}\n`);
  await serve(config);
}

const ENV_FILE = '.env';

/**
 * Adds the variables of the file, unless the environment has them and they are not empty. `process.loadEnvFile` reads no byte order mark,
 * and nothing of UTF-16.
 */
function loadEnvFile(): void {
  try {
    for (const [name, text] of Object.entries(parseEnv(readTextFile(ENV_FILE)))) process.env[name] ||= text;
  } catch (error) {
    throw new ConfigError([`${ENV_FILE}: ${(error as Error).message}`]);
  }
}

/** Prints what is wrong with the settings, a line each, and exits with 2. @throws any other error again */
function exitWithProblems(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  for (const problem of error.problems) process.stderr.write(`pdex-gateway: ${problem}\n`);
  process.exit(2);
}

async function serve(config: Config): Promise<void> {
  const log = await createLog(config.logLevel, redactorOf(config));
  process.once('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the process exits because of an uncaught error');
    process.exit(1);
  });
  // In place of Node's own listener, which writes to stderr.
  process.removeAllListeners('warning').on('warning', ({ name, message }) => log.warn({ warning: name }, message));
  for (const warning of [...findUnknownVariables(process.env), ...findIgnoredVariables(process.env)]) log.warn(warning);
  logProxies(config, log);
  const starting = startApp(config, log);
  let isStopping = false;
  // A start can wait for Redis for seconds. A process that is killed then, before it unsubscribes, leaves a leak in the node.
  onStopSignal(async (signal) => {
    isStopping = true;
    log.info({ signal }, 'stopping');
    await (await starting).close();
    process.exit(0);
  });
  const app = await starting;
  if (isStopping) return;

  try {
    const url = await app.listen(config.port, config.host);
    const admin = app.adminUrl();
    const explorer = app.hasExplorer && { explorer: new URL('/', url).href };
    log.info({ graphql: url, ...explorer, ...(admin && { admin }), ...app.upstreams }, 'serving');
  } catch (error) {
    // The last line names the error, also if the gateway cannot be closed.
    await app.close().catch((problem) => log.error(problem));
    log.fatal(`${(error as Error).message}; choose another port or address with PORT, HOST, ADMIN_PORT or ADMIN_HOST`);
    process.exit(1);
  }
}

/** Logs which proxies are used, or that those of the environment are not. */
function logProxies({ httpProxy, httpsProxy }: Config, log: Log): void {
  const unused = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'].filter((name) => process.env[name]);
  if (httpProxy !== undefined || httpsProxy !== undefined) {
    log.info({ http: httpProxy?.host, https: httpsProxy?.host }, 'requests to other hosts go through proxies');
  } else if (unused.length > 0 && !usesProxies(process.env)) {
    log.info({ unused }, 'the proxies of the environment are not used without NODE_USE_ENV_PROXY=1');
  }
}

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
  // SIGHUP: the terminal or the session of ssh is closed.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, handle);
}

main(process.argv.slice(2)).catch(exitWithProblems);
