import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseTokens, type Token } from './domain/token.ts';

/** Everything that can be set, read and checked. */
export type Config = {
  /** Empty where no node is configured. */
  readonly fullnodeUrls: readonly URL[];
  readonly marketDataUrl: URL | undefined;
  readonly marketDataPartner: string;
  readonly host: string;
  readonly port: number;
  /** Laid over the built-in list. */
  readonly tokens: readonly Token[];
  readonly headPollMs: number;
  readonly marketPollMs: number;
  readonly orderBookTtlMs: number;
  readonly upstreamTimeoutMs: number;
  readonly logLevel: LogLevel;
  readonly sandboxBlockMs: number;
};

/** How much the log tells, from most to nothing. */
export type LogLevel = (typeof LOG_LEVELS)[number];

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** One setting: a flag of the command line, which comes first, and a variable of the environment. */
export type Setting<Value = unknown> = {
  readonly flag: string;
  readonly variable: string;
  /** As it would be written; the empty text is no value. */
  readonly default: string;
  readonly meaning: string;
  /** Reads a text. @throws Error that says what was expected */
  readonly read: (text: string) => Value;
};

/** All settings: what `--help`, the table of the README and `.env.example` are printed from. */
export const SETTINGS: { readonly [Key in SettingKey]: Setting<SettingValues[Key]> } = {
  fullnodeUrls: {
    flag: 'fullnode-url',
    variable: 'FULLNODE_URL',
    default: '',
    meaning: "the node's JSON-RPC: one URL, or several separated by commas",
    read: (text) => (text === '' ? [] : text.split(',').map((url) => readUrl(url.trim()))),
  },
  marketDataUrl: {
    flag: 'market-data-url',
    variable: 'MARKET_DATA_URL',
    default: '',
    meaning: 'the market-data host; the path `/api/v1/public/<partner>/…` is added',
    read: (text) => (text === '' ? undefined : readUrl(text)),
  },
  marketDataPartner: {
    flag: 'market-data-partner',
    variable: 'MARKET_DATA_PARTNER',
    default: 'market-data',
    meaning: 'the path segment that names the partner',
    read: readSegment,
  },
  host: {
    flag: 'host',
    variable: 'HOST',
    default: '127.0.0.1',
    meaning: 'the address to listen on',
    read: (text) => text,
  },
  port: {
    flag: 'port',
    variable: 'PORT',
    default: '4000',
    meaning: 'the port to listen on; 0 takes a free one, and the log names it',
    read: (text) => readWhole(text, 0, 65_535),
  },
  tokens: {
    flag: 'tokens-file',
    variable: 'TOKENS_FILE',
    default: '',
    meaning: 'a JSON file `[{"id", "symbol", "decimals"}]`, laid over the built-in list of tokens',
    read: (path) => (path === '' ? [] : readTokensFile(path)),
  },
  headPollMs: {
    flag: 'head-poll-ms',
    variable: 'HEAD_POLL_MS',
    default: '1000',
    meaning: 'how often the tip of the chain is looked at; 50 or more',
    read: readInterval,
  },
  marketPollMs: {
    flag: 'market-poll-ms',
    variable: 'MARKET_POLL_MS',
    default: '10000',
    meaning: 'how often pairs and tickers are read; 50 or more',
    read: readInterval,
  },
  orderBookTtlMs: {
    flag: 'order-book-ttl-ms',
    variable: 'ORDER_BOOK_TTL_MS',
    default: '1000',
    meaning: 'how long one reading of an order book serves everyone; 50 or more',
    read: readInterval,
  },
  upstreamTimeoutMs: {
    flag: 'upstream-timeout-ms',
    variable: 'UPSTREAM_TIMEOUT_MS',
    default: '10000',
    meaning: 'how long an upstream may take for a whole answer',
    read: (text) => readWhole(text, 1, MAX_TIMER_MS),
  },
  logLevel: {
    flag: 'log-level',
    variable: 'LOG_LEVEL',
    default: 'info',
    meaning: `how much the log tells: ${LOG_LEVELS.join(', ')}`,
    read: readLogLevel,
  },
  sandboxBlockMs: {
    flag: 'sandbox-block-ms',
    variable: 'SANDBOX_BLOCK_MS',
    default: '4000',
    meaning: 'how often the sandbox makes a block; its own clock moves 40 s each time',
    read: (text) => readWhole(text, 1, MAX_TIMER_MS),
  },
};

type SettingKey = keyof Config;
type SettingValues = Config;

/** Settings of which something cannot be; all problems of all of them, a line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads the settings.
 *
 * @param args the command line behind the name of the program
 * @returns `'help'` or `'version'` where that is all that is wanted
 * @throws ConfigError with everything that is wrong, so that it can be put right at once
 */
export function readConfig(args: readonly string[], env: NodeJS.ProcessEnv): Config | 'help' | 'version' {
  const problems: string[] = [];
  const flags = readFlags(args, problems);
  if (flags['help']) return 'help';
  if (flags['version']) return 'version';

  function value<Key extends SettingKey>(key: Key): Config[Key] {
    const setting: Setting<Config[Key]> = SETTINGS[key];
    const flag = flags[setting.flag];
    const isFlag = typeof flag === 'string';
    const text = isFlag ? flag : env[setting.variable] || setting.default;
    try {
      return setting.read(text);
    } catch (error) {
      const name = isFlag ? `--${setting.flag}` : setting.variable;
      problems.push(`${name} is ${JSON.stringify(text)}: ${error instanceof Error ? error.message : error}`);
      return setting.read(setting.default);
    }
  }

  const config: Config = {
    fullnodeUrls: value('fullnodeUrls'),
    marketDataUrl: value('marketDataUrl'),
    marketDataPartner: value('marketDataPartner'),
    host: value('host'),
    port: value('port'),
    tokens: value('tokens'),
    headPollMs: value('headPollMs'),
    marketPollMs: value('marketPollMs'),
    orderBookTtlMs: value('orderBookTtlMs'),
    upstreamTimeoutMs: value('upstreamTimeoutMs'),
    logLevel: value('logLevel'),
    sandboxBlockMs: value('sandboxBlockMs'),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** What `--help` prints. */
export function helpText(): string {
  const lines = Object.values(SETTINGS).map(({ flag, variable, default: byDefault, meaning }) => {
    const unset = byDefault === '' ? '' : ` (default ${byDefault})`;
    return `  --${flag.padEnd(22)} ${variable.padEnd(22)} ${meaning}${unset}`;
  });
  return [
    'pdex-gateway: one GraphQL endpoint over a full node and the market data of its exchange',
    '',
    'Usage: pdex-gateway [--flag value …]',
    '',
    'Each setting is a flag or a variable of the environment; the flag comes first.',
    'Without a URL of either upstream, a built-in sandbox plays both.',
    '',
    ...lines,
    `  --${'help'.padEnd(45)} prints this`,
    `  --${'version'.padEnd(45)} prints the version`,
    '',
  ].join('\n');
}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** Reads the command line a flag at a time, so that each unknown one is told. */
function readFlags(args: readonly string[], problems: string[]): Flags {
  const known = new Map(Object.values(SETTINGS).map(({ flag }) => [flag, { type: 'string' as const }]));
  const options = {
    ...Object.fromEntries(known),
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  } as const;
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });

  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`${JSON.stringify(token.value)} is no flag`);
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(options, token.name)) problems.push(`${token.rawName} is no flag: see --help`);
    else if (known.has(token.name) && token.value === undefined) problems.push(`${token.rawName} needs a value`);
  }
  return values as Flags;
}

/** What a timer of the runtime can count to. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Readings closer together than this would only load the upstreams. */
const MIN_INTERVAL_MS = 50;

function readInterval(text: string): number {
  return readWhole(text, MIN_INTERVAL_MS, MAX_TIMER_MS);
}

function readWhole(text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max)
    throw new Error(`expected a whole number from ${min} to ${max}`);
  return number;
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error('expected a URL with http or https');
  return url;
}

function readSegment(text: string): string {
  if (!/^[\w.~-]+$/.test(text)) throw new Error('expected one segment of a path: letters, digits and - . _ ~');
  return text;
}

function readLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) throw new Error(`expected one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

function readTokensFile(path: string): Token[] {
  const read = parseTokens(readJsonFile(path));
  if ('problems' in read) throw new Error(read.problems.join('; '));
  return read.tokens;
}

function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(error instanceof SyntaxError ? 'the file is not JSON' : 'the file cannot be read', {
      cause: error,
    });
  }
}
