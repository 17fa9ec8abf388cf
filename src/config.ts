import { parseArgs } from 'node:util';
import type { Token } from './domain/token.ts';
import type { Limits } from './graphql/limits.ts';
import type { LogLevel } from './setting-readers.ts';
import { SETTINGS, type Setting } from './settings.ts';

/** Everything that can be set, read and checked. */
export type Config = Limits & {
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
  readonly upstreamMaxConnections: number;
  readonly upstreamMaxWaiting: number;
  readonly upstreamMaxPauseMs: number;
  readonly marketMaxAgeMs: number;
  /** How many bytes of finished answers are kept; 0 keeps none. */
  readonly answerCacheBytes: number;
  readonly graphiql: boolean;
  /** Whose pages may ask, beside those of the gateway itself; `*` is everyone's. */
  readonly corsOrigins: readonly string[];
  /** Points of complexity; nothing is limited by rate where it is not set. */
  readonly rateLimitPerSecond: number | undefined;
  readonly rateLimitBurst: number | undefined;
  readonly maxConnectionsPerAddress: number | undefined;
  /** Addresses and ranges of proxies, which are believed what they say of their clients. */
  readonly trustedProxies: readonly string[];
  readonly keepAliveMs: number;
  readonly stopWindowMs: number;
  readonly stopTimeoutMs: number;
  readonly logLevel: LogLevel;
  readonly sandboxBlockMs: number;
};

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

  function value<Key extends keyof Config>(key: Key): Config[Key] {
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
    upstreamMaxConnections: value('upstreamMaxConnections'),
    upstreamMaxWaiting: value('upstreamMaxWaiting'),
    upstreamMaxPauseMs: value('upstreamMaxPauseMs'),
    marketMaxAgeMs: value('marketMaxAgeMs'),
    answerCacheBytes: value('answerCacheBytes'),
    graphiql: value('graphiql'),
    corsOrigins: value('corsOrigins'),
    keepAliveMs: value('keepAliveMs'),
    stopWindowMs: value('stopWindowMs'),
    stopTimeoutMs: value('stopTimeoutMs'),
    maxDepth: value('maxDepth'),
    maxComplexity: value('maxComplexity'),
    maxValues: value('maxValues'),
    maxSchemaObjects: value('maxSchemaObjects'),
    maxSiblings: value('maxSiblings'),
    maxNesting: value('maxNesting'),
    maxTokens: value('maxTokens'),
    maxPageSize: value('maxPageSize'),
    maxBodyBytes: value('maxBodyBytes'),
    maxHeightsPerOperation: value('maxHeightsPerOperation'),
    maxResumedHeights: value('maxResumedHeights'),
    maxOperationsPerRequest: value('maxOperationsPerRequest'),
    maxSubscriptionsPerConnection: value('maxSubscriptionsPerConnection'),
    maxValuesPerConnection: value('maxValuesPerConnection'),
    rateLimitPerSecond: value('rateLimitPerSecond'),
    rateLimitBurst: value('rateLimitBurst'),
    maxConnectionsPerAddress: value('maxConnectionsPerAddress'),
    trustedProxies: value('trustedProxies'),
    logLevel: value('logLevel'),
    sandboxBlockMs: value('sandboxBlockMs'),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
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
