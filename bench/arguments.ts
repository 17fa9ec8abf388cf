import { parseArgs } from 'node:util';

/** The arguments of a run. */
export type Arguments = {
  /** Small sizes and few rounds: shows that everything works. The figures mean nothing. */
  readonly quick: boolean;
  /** The names of the rows to run; all by default. */
  readonly rows: readonly string[];
  /** The commit whose gateway is compared with this one; `undefined` compares with other servers. */
  readonly before: string | undefined;
  /** The folder that gets the report; `undefined` prints it only. */
  readonly output: string | undefined;
};

/** The text of `--help`. @param names all rows; those in `compared` run with `--before` too */
export function usage(names: readonly string[], compared: readonly string[]): string {
  return `Usage: npm run bench -- [flags]

Without flags: runs all rows, and writes RESULTS.md, results/ and the chart in the README.

  --quick            small sizes and few rounds, in a few minutes; the figures mean nothing
  --rows <a,b>       run only these rows
  --before <commit>  compare with the gateway of another commit of this repository; no other servers take part
  --output <folder>  where to write the report; by default, a run with one of the flags above only prints it
  --help             print this text

Rows: ${names.join(', ')}
Rows with --before: ${compared.join(', ')}
`;
}

/** Reads the command line; `undefined` if it requests help. @throws Error that says what is wrong */
export function readArguments(args: readonly string[], names: readonly string[]): Arguments | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      rows: { type: 'string', multiple: true, default: [] },
      before: { type: 'string' },
      output: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;

  const { quick, before } = values;
  const rows = values.rows.flatMap((list) => list.split(','));
  const unknown = rows.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`no such row: ${unknown.join(', ')}`);
  const isWhole = !quick && rows.length === 0 && before === undefined;
  const output = values.output ?? (isWhole ? import.meta.dirname : undefined);
  return { quick, rows: rows.length === 0 ? names : rows, before, output };
}
