import { parseArgs } from 'node:util';

/** What a run is made from. */
export type Arguments = {
  readonly minutes: number;
  readonly seed: number;
  /** How much is asked: 1 keeps one core of an ordinary machine about half busy. */
  readonly load: number;
  /** The file that the result is written to, as Markdown. */
  readonly report: string | undefined;
};

/** The text of `--help`. */
export const USAGE = `Usage: npm run soak -- [flags]

  --minutes <number>  how long trouble lasts before all is healed (1)
  --seed <number>     which chain, which faults, which questions (a random one, which is printed)
  --load <number>     how much is asked, as a multiple of the usual (1)
  --report <file>     where the result is written to, as Markdown
  --help              this text
`;

/** Reads the command line; `undefined` where it asks for help. @throws Error that says what was expected */
export function readArguments(args: readonly string[]): Arguments | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      load: { type: 'string', default: '1' },
      report: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;

  return {
    minutes: positive('--minutes', values.minutes),
    seed: positive('--seed', values.seed),
    load: positive('--load', values.load),
    report: values.report,
  };
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Number.POSITIVE_INFINITY)) throw new Error(`${flag} must be a number above 0: ${text}`);
  return value;
}
