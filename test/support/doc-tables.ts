import { ERROR_CODES } from '../../src/errors.ts';

/** The table of error codes. */
export function errorsTable(): string {
  const codes: [string, { readonly cause: string; readonly remedy?: string }][] = Object.entries(ERROR_CODES);
  const rows = codes.map(([code, { cause, remedy = 'Retry later.' }]) => `| \`${code}\` | ${cause} | ${remedy} |`);
  return ['| code | cause | what to do |', '|---|---|---|', ...rows].join('\n');
}

/** The table of metrics, from the text of `/metrics`: each metric of the gateway with its help. */
export function metricsTable(exposition: string): string {
  const rows = [...exposition.matchAll(/^# HELP (pdex_\w+) (.*)$/gm)].map(
    ([, name, help]) => `| \`${name}\` | ${help} |`,
  );
  return ['| metric | meaning |', '|---|---|', ...rows].join('\n');
}

/**
 * Replaces the part of a page between `<!-- name -->` and `<!-- /name -->`.
 *
 * @throws Error when the page does not have that part once
 */
export function replacePart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [before, rest = ''] = page.split(begin);
  const parts = rest.split(end);
  if (parts.length !== 2) throw new Error(`expected ${begin} and ${end} once`);
  return `${before}${begin}\n\n${text}\n\n${end}${parts[1]}`;
}
