import { parseArgs } from 'node:util';

/** The arguments of a run. */
export type Arguments = {
  readonly minutes: number;
  readonly seed: number;
  /** The load as a multiple of the default, which keeps one core of an ordinary machine about half busy. */
  readonly load: number;
  /** The number of gateways. Several are a fleet on Redis. */
  readonly replicas: number;
  /** The version of the exchange that the sandbox plays. */
  readonly exchange: 'v1' | 'v3';
  /** The file for the result, as Markdown. */
  readonly report: string | undefined;
};

/** The text of `--help`. */
export const USAGE = `Usage: npm run soak -- [flags]

  --minutes <number>  duration of the faults in minutes (1)
  --seed <number>     seed of the chain, the faults and the requests (by default random; it is printed)
  --load <number>     load as a multiple of the default (1)
  --replicas <number> number of gateways, which are a fleet on Redis if there are several (1)
  --exchange <name>   version of the exchange that trades: v1 or v3 (v1)
  --report <file>     file for the result, as Markdown
  --help              prints this text
`;

/** Reads the command line; `undefined` for `--help`. @throws Error that says what was expected */
export function readArguments(args: readonly string[]): Arguments | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      load: { type: 'string', default: '1' },
      replicas: { type: 'string', default: '1' },
      exchange: { type: 'string', default: 'v1' },
      report: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;

  return {
    minutes: positive('--minutes', values.minutes),
    seed: whole('--seed', values.seed),
    load: positive('--load', values.load),
    replicas: whole('--replicas', values.replicas),
    exchange: exchangeOf(values.exchange),
    report: values.report,
  };
}

function exchangeOf(text: string): Arguments['exchange'] {
  if (text === 'v1' || text === 'v3') return text;
  throw new Error(`--exchange must be v1 or v3: ${text}`);
}

function whole(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isSafeInteger(value))) throw new Error(`${flag} must be a whole number above 0: ${text}`);
  return value;
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Number.POSITIVE_INFINITY)) throw new Error(`${flag} must be a number above 0: ${text}`);
  return value;
}
