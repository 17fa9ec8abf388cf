import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { redactUrls } from '../logging/redact.ts';
import { DEFAULT_HISTORY_FILE, requireDatabaseFile } from './history-database.ts';
import { ConfigError, flagOf, type Setting } from './kinds.ts';
import { redactorOf } from './secrets.ts';
import { type Config, SETTINGS } from './settings.ts';
import { findRenamedVariables, findUnknownVariables, nearestOf } from './unknown-variables.ts';

const ALL = Object.values<Setting>(SETTINGS);

/**
 * Reads all settings. A flag overrides its variable, and an empty variable is not set.
 *
 * @param args the command line after the name of the program
 * @returns `'help'` or `'version'` if the command line requests it
 * @throws ConfigError with all problems of all settings
 */
export function readConfig(args: readonly string[], env: NodeJS.ProcessEnv): Config | 'help' | 'version' {
  const problems = findRenamedVariables(env);
  const flags = readFlags(args, problems);
  if (flags['help']) return 'help';
  if (flags['version']) return 'version';

  return toConfig(problems, {
    read(setting) {
      const flag = flags[flagOf(setting)];
      if (typeof flag === 'string') return { name: `--${flagOf(setting)}`, text: flag };
      const read = readVariable(setting, env);
      return ignoredBecause(setting, read) === undefined ? read : { ...read, text: setting.default };
    },
    nameOf: ({ variable }) => variable,
    whyNoSandbox: env['NODE_ENV'] === 'production' ? 'NODE_ENV is production' : undefined,
    sandboxHint: `--${flagOf(SETTINGS.sandbox)} (${SETTINGS.sandbox.variable}=true)`,
    misspelt: () => findUnknownVariables(env),
  });
}

/** The text of a setting, and the name under which it was set. */
type NamedText = { readonly name: string; readonly text: string };

function readVariable({ variable, isOfNode, default: byDefault }: Setting, env: NodeJS.ProcessEnv): NamedText {
  if (isOfNode && !usesProxies(env)) return { name: variable, text: byDefault };
  const lower = variable.toLowerCase();
  const name = isOfNode && env[lower] ? lower : variable;
  return { name, text: env[name] || byDefault };
}

/** Finds wrong variables that are ignored. @returns a sentence for each, without any secret */
export function findIgnoredVariables(env: NodeJS.ProcessEnv): string[] {
  return ALL.flatMap((setting) => ignoredBecause(setting, readVariable(setting, env)) ?? []);
}

/** Why a variable is ignored; `undefined` if it is not. */
function ignoredBecause(setting: Setting, read: NamedText): string | undefined {
  if (!setting.isIgnoredIfWrong) return undefined;
  try {
    setting.read(read.text);
    return undefined;
  } catch (error) {
    return `${problemOf(setting, read, error)}; the variable is ignored`;
  }
}

/** Whether Node reads the variables of proxies: by a variable of its own, or by a flag of Node. */
export function usesProxies(env: NodeJS.ProcessEnv): boolean {
  const flags = [env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  return env['NODE_USE_ENV_PROXY'] === '1' || /(^|\s)--use-env-proxy(\s|$)/.test(flags);
}

/** Where the texts of settings come from, and how messages name it. */
type SettingsSource = {
  /** @returns the text of a setting, the name under which it was set, and what was expected if its value is of another type */
  read(setting: Setting): NamedText & { readonly expected?: string | undefined };
  nameOf(setting: Setting): string;
  /** Why the sandbox is not used when nothing is configured; `undefined` if it is used. */
  readonly whyNoSandbox?: string | undefined;
  /** How the sandbox is turned on. */
  readonly sandboxHint: string;
  /** Sentences about names that are probably misspelt settings. */
  misspelt(): readonly string[];
};

/**
 * Reads all settings from their source.
 *
 * @param problems what is wrong already, a line each
 * @throws ConfigError with all problems of all settings
 */
export function toConfig(problems: string[], source: SettingsSource): Config {
  const invalid = new Set<string>();
  const values = ALL.map((setting) => {
    const { option } = setting;
    const { name, text, expected } = source.read(setting);
    try {
      if (expected === undefined) return [option, setting.read(text)];
      problems.push(`${name}: expected ${expected}`);
    } catch (error) {
      problems.push(problemOf(setting, { name, text }, error));
    }
    invalid.add(option);
    return [option, setting.read(setting.default)];
  });
  const config: Config = Object.fromEntries(values);
  for (const [keys, problemsOf] of CHECKS)
    if (!keys.some((key) => invalid.has(key))) problems.push(...problemsOf(config, source));
  if (problems.length > 0) {
    const redact = redactorOf(config);
    throw new ConfigError(problems.map((problem) => redact(problem)));
  }
  return config;
}

/** A text that cannot be read, and why, without any text that may be a secret. */
function problemOf({ isSecret }: Setting, { name, text }: NamedText, error: unknown): string {
  const shown = isSecret ? HIDDEN : `is ${JSON.stringify(redactUrls(text))}`;
  return `${name} ${shown}: ${error instanceof Error ? error.message : error}`;
}

/** What several settings must fulfil together. An invalid one is reported alone, because its default stands in for it. */
const CHECKS: readonly (readonly [
  keys: readonly (keyof Config)[],
  problemsOf: (config: Config, source: SettingsSource) => readonly string[],
])[] = [
  [['sandbox', 'fullnodeUrl', 'marketDataUrl'], sandboxProblems],
  [['persistedOnly', 'persistedDocuments'], persistedProblems],
  [['adminPort', 'adminHost'], adminProblems],
  [['rateLimitPerSecond', 'rateLimitBurst'], rateProblems],
  [['fullnodeUrl', 'fullnodeWsUrl'], pushProblems],
  [['historyDatabase', 'fullnodeUrl'], historyProblems],
];

/** Replaces a text that may contain a secret. */
const HIDDEN = '(not shown, it may contain a secret)';

/** Why it is unclear whether to serve real or simulated data; the gateway never mixes the two. */
function sandboxProblems({ sandbox, fullnodeUrl, marketDataUrl }: Config, source: SettingsSource): string[] {
  const [node, marketData, setting] = [SETTINGS.fullnodeUrl, SETTINGS.marketDataUrl, SETTINGS.sandbox].map(
    source.nameOf,
  );
  const isConfigured = fullnodeUrl.length > 0 || marketDataUrl !== undefined;
  if (isConfigured) {
    if (!sandbox) return [];
    return [`${setting} is true, but ${node} or ${marketData} is set: real and simulated data never mix`];
  }
  const cause = sandbox === undefined ? source.whyNoSandbox : `${setting} is false`;
  if (sandbox || cause === undefined) return [];
  const nothing = `neither ${node} nor ${marketData} is set, and ${cause}`;
  const remedy = `set one of them, or ${source.sandboxHint} for simulated data`;
  return [[`${nothing}: ${remedy}`, ...source.misspelt()].join('; ')];
}

function persistedProblems({ persistedOnly, persistedDocuments }: Config, source: SettingsSource): string[] {
  if (!persistedOnly || persistedDocuments !== undefined) return [];
  const [only, documents] = [SETTINGS.persistedOnly, SETTINGS.persistedDocuments].map(source.nameOf);
  return [`${only} is true, but ${documents} is not set: no operation could be executed`];
}

function adminProblems({ adminPort, adminHost }: Config, { nameOf }: SettingsSource): string[] {
  if (adminHost === undefined || adminPort !== undefined) return [];
  const [host, port, server] = [SETTINGS.adminHost, SETTINGS.adminPort, SETTINGS.port].map(nameOf);
  return [`${host} is set, but ${port} is not: /health, /ready and /metrics would stay on ${server}`];
}

function rateProblems({ rateLimitPerSecond, rateLimitBurst }: Config, { nameOf }: SettingsSource): string[] {
  if (rateLimitBurst === undefined || rateLimitPerSecond !== undefined) return [];
  const [burst, rate] = [SETTINGS.rateLimitBurst, SETTINGS.rateLimitPerSecond].map(nameOf);
  return [`${burst} is set, but ${rate} is not, or is 0: nothing would be limited`];
}

/** Without the setting, a real chain is recorded in a file of the working directory. */
function historyProblems({ historyDatabase, fullnodeUrl }: Config, { nameOf }: SettingsSource): string[] {
  if (historyDatabase !== undefined || fullnodeUrl.length === 0) return [];
  try {
    requireDatabaseFile(resolve(DEFAULT_HISTORY_FILE));
    return [];
  } catch (error) {
    const problem = `its default ${DEFAULT_HISTORY_FILE} cannot be used: ${(error as Error).message}`;
    return [`${nameOf(SETTINGS.historyDatabase)} is not set, and ${problem}; set a path, memory or off`];
  }
}

/** Each websocket belongs to the node at its position. */
function pushProblems({ fullnodeUrl, fullnodeWsUrl }: Config, { nameOf }: SettingsSource): string[] {
  const [nodes, sockets] = [fullnodeUrl.length, fullnodeWsUrl.length];
  if (sockets === 0 || sockets === nodes) return [];
  const [push, node] = [SETTINGS.fullnodeWsUrl, SETTINGS.fullnodeUrl].map(nameOf);
  if (nodes === 0) return [`${push} is set, but ${node} is not: a pushed block is read from the node`];
  const count = sockets === 1 ? '1 URL' : `${sockets} URLs`;
  return [`${push} has ${count}, but ${node} has ${nodes}: expected one for each node, or an empty one`];
}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** The flags that can stand without a value. */
const SWITCHES: ReadonlySet<string> = new Set(
  ALL.filter(({ kind }) => kind === 'boolean').map((setting) => `--${flagOf(setting)}`),
);

/** Adds the value `true` to a switch without a value. */
function withValue(arg: string, place: number, args: readonly string[]): string {
  return SWITCHES.has(arg) && !/^(true|false)$/.test(args[place + 1] ?? '') ? `${arg}=true` : arg;
}

/** Matches the unknown flags that are printed. Any other text may be a part of a secret value that was not quoted. */
const FLAG = /^--?[a-z_][\w-]{0,39}$/i;

/** What a user can do about an unknown flag. */
function hintFor(flag: string): string {
  const meant = nearestOf(
    flag.toLowerCase(),
    ALL.map((setting) => `--${flagOf(setting)}`),
  );
  return meant === undefined ? 'see --help' : `did you mean ${meant}?`;
}

/** Reads the flags of the command line, and reports each unknown one once. */
function readFlags(args: readonly string[], problems: string[]): Flags {
  const known = new Map(ALL.map((setting) => [flagOf(setting), setting]));
  const options = {
    ...Object.fromEntries([...known.keys()].map((flag) => [flag, { type: 'string' as const }])),
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  } as const;
  const { values, tokens } = parseArgs({ args: args.map(withValue), options, strict: false, tokens: true });

  const reported = new Set<number>();
  let mayBelongToSecret = false;
  for (const token of tokens) {
    if (token.kind === 'option-terminator' || reported.has(token.index)) continue;
    const place = `argument ${token.index + 1} ${HIDDEN}`;
    if (token.kind === 'positional') {
      const shown = mayBelongToSecret ? place : JSON.stringify(redactUrls(token.value));
      problems.push(`${shown} is not a flag`);
    } else if (Object.hasOwn(options, token.name)) {
      mayBelongToSecret = known.get(token.name)?.isSecret === true;
      if (known.has(token.name) && token.value === undefined) problems.push(`${token.rawName} needs a value`);
    } else {
      mayBelongToSecret = true;
      problems.push(`${FLAG.test(token.rawName) ? token.rawName : place} is not a flag: ${hintFor(token.rawName)}`);
      reported.add(token.index);
    }
  }
  return values as Flags;
}
