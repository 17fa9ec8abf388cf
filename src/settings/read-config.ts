import { parseArgs } from 'node:util';
import { redactUrls } from '../redact.ts';
import { redactorOf } from './secrets.ts';
import { type Config, flagOf, SETTINGS, type Setting } from './settings.ts';
import { findUnknownVariables } from './unknown-variables.ts';

const ALL = Object.values<Setting>(SETTINGS);

/** Thrown if settings are wrong; lists all problems, a line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads all settings. A flag overrides its variable, and an empty variable is not set.
 *
 * @param args the command line after the name of the program
 * @returns `'help'` or `'version'` if the command line asks for it
 * @throws ConfigError with all problems of all settings
 */
export function readConfig(args: readonly string[], env: NodeJS.ProcessEnv): Config | 'help' | 'version' {
  const problems: string[] = [];
  const flags = readFlags(args, problems);
  if (flags['help']) return 'help';
  if (flags['version']) return 'version';

  const values = Object.entries<Setting>(SETTINGS).map(([key, setting]) => {
    const flag = flags[flagOf(setting)];
    const isFlag = typeof flag === 'string';
    const text = isFlag ? flag : env[setting.variable] || setting.default;
    try {
      return [key, setting.read(text)];
    } catch (error) {
      const name = isFlag ? `--${flagOf(setting)}` : setting.variable;
      const shown = setting.isSecret ? HIDDEN : `is ${JSON.stringify(redactUrls(text))}`;
      problems.push(`${name} ${shown}: ${error instanceof Error ? error.message : error}`);
      return [key, setting.read(setting.default)];
    }
  });
  const config: Config = Object.fromEntries(values);
  if (problems.length === 0) problems.push(...sandboxProblems(config, env));
  if (problems.length > 0) throw new ConfigError(problems.map(redactorOf(config)));
  return config;
}

/** Replaces a text that may contain a secret. */
const HIDDEN = '(not shown, it may contain a secret)';

/** Why it is unclear whether to serve real or simulated data; the gateway never mixes the two. */
function sandboxProblems({ sandbox, fullnodeUrls, marketDataUrl }: Config, env: NodeJS.ProcessEnv): string[] {
  const { fullnodeUrls: node, marketDataUrl: marketData, sandbox: setting } = SETTINGS;
  const isConfigured = fullnodeUrls.length > 0 || marketDataUrl !== undefined;
  if (isConfigured) {
    if (!sandbox) return [];
    return [
      `${setting.variable} is true, but ${node.variable} or ${marketData.variable} is set: real and simulated data never mix`,
    ];
  }
  const isRefused = sandbox === false || (sandbox === undefined && env['NODE_ENV'] === 'production');
  if (!isRefused) return [];
  const cause = sandbox === false ? `${setting.variable} is false` : 'NODE_ENV is production';
  const nothing = `neither ${node.variable} nor ${marketData.variable} is set, and ${cause}`;
  const remedy = `set one of them, or --${flagOf(setting)} (${setting.variable}=true) for simulated data`;
  return [[`${nothing}: ${remedy}`, ...findUnknownVariables(env)].join('; ')];
}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** The flags that can stand without a value. */
const SWITCHES: ReadonlySet<string> = new Set(
  ALL.filter(({ isSwitch }) => isSwitch).map((setting) => `--${flagOf(setting)}`),
);

/** Adds the value `true` to a switch without a value. */
function withValue(arg: string, place: number, args: readonly string[]): string {
  return SWITCHES.has(arg) && !/^(true|false)$/.test(args[place + 1] ?? '') ? `${arg}=true` : arg;
}

/** Matches the unknown flags that are printed. Any other text may be a part of a secret value that was not quoted. */
const FLAG = /^--?[a-z_][\w-]{0,39}$/i;

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
      problems.push(`${FLAG.test(token.rawName) ? token.rawName : place} is not a flag: see --help`);
      reported.add(token.index);
    }
  }
  return values as Flags;
}
