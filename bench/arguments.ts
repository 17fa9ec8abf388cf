import { parseArgs } from 'node:util';

/** What a run is made from. */
export type Arguments = {
  /** Small sizes and few rounds: shows that everything works, and measures nothing that may be quoted. */
  readonly quick: boolean;
  /** The rows that are run, by their names; all of them where it is empty. */
  readonly only: readonly string[];
  /** The file that the result is written to. */
  readonly report: string;
};

/** The text of `--help`. */
export function usage(names: readonly string[]): string {
  return `Usage: npm run bench -- [flags]

  --quick          small sizes and few rounds, in less than two minutes; nothing of it may be quoted
  --only <name>    runs one row; can be given several times
  --report <file>  where the result is written to (RESULTS.md; nowhere for --quick)
  --help           this text

Rows: ${names.join(', ')}
`;
}

/** Reads the command line; `undefined` where it asks for help. @throws Error that says what was expected */
export function readArguments(args: readonly string[], names: readonly string[]): Arguments | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      report: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;

  const unknown = values.only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`no such row: ${unknown.join(', ')}`);
  return { quick: values.quick, only: values.only, report: values.report ?? (values.quick ? '' : 'RESULTS.md') };
}
