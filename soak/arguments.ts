import { parseArgs } from 'node:util';
import { exchangeOf, flag, switchFlag, usageOf } from '../src/sandbox/flags.ts';

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

const FLAGS = {
  minutes: flag('<number>', '1', 'duration of the faults in minutes'),
  seed: flag('<number>', '', 'seed of the chain, the faults and the requests (by default random; it is printed)'),
  load: flag('<number>', '1', 'load as a multiple of the default'),
  replicas: flag('<number>', '1', 'number of gateways, which are a fleet on Redis if there are several'),
  exchange: flag('<v1|v3>', 'v1', 'version of the exchange that trades'),
  report: flag('<file>', '', 'file for the result, as Markdown'),
  help: switchFlag('prints this text'),
};

/** The text of `--help`. */
export const USAGE = usageOf('soak', FLAGS);

/** Reads the command line; `undefined` for `--help`. @throws Error that says what was expected */
export function readArguments(args: readonly string[]): Arguments | undefined {
  const { values } = parseArgs({ args: [...args], options: FLAGS });
  if (values.help) return undefined;

  return {
    minutes: positive('--minutes', values.minutes),
    seed: whole('--seed', values.seed || String(1 + Math.floor(Math.random() * 1_000_000))),
    load: positive('--load', values.load),
    replicas: whole('--replicas', values.replicas),
    exchange: exchangeOf(values.exchange),
    report: values.report || undefined,
  };
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
