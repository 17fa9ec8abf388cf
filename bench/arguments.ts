import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** The arguments of a run. */
export type Arguments = {
  /** Small sizes and few rounds: shows that everything works. The figures mean nothing. */
  readonly quick: boolean;
  /** The names of the rows to run; empty for all. */
  readonly only: readonly string[];
  /** The folder of another checkout, whose gateway is compared with this one; `undefined` compares with other servers. */
  readonly before: string | undefined;
  /** The file to which the report is written; empty for none. */
  readonly report: string;
};

/** The text of `--help`. @param names all rows; those in `compared` run with `--before` too */
export function usage(names: readonly string[], compared: readonly string[]): string {
  return `Usage: npm run bench -- [flags]

  --quick            small sizes and few rounds, in a few minutes; the figures mean nothing
  --only <name>      run only this row; can be repeated
  --before <folder>  compare with the gateway of another checkout, in half an hour; no other servers take part
  --report <file>    where to write the report (RESULTS.md; by default nowhere with --quick or --before)
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
      only: { type: 'string', multiple: true, default: [] },
      before: { type: 'string' },
      report: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;

  const { quick, only, before } = values;
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`no such row: ${unknown.join(', ')}`);
  if (before !== undefined && !existsSync(join(before, 'src/start.js')))
    throw new Error(`not a checkout of the gateway: ${before}`);
  return { quick, only, before, report: values.report ?? (quick || before !== undefined ? '' : 'RESULTS.md') };
}
