import { ERROR_CODES, type ErrorCodeFacts } from '../../src/domain/error-codes.ts';
import { descriptionOf, flagOf, type Setting } from '../../src/settings/kinds.ts';
import { SETTING_GROUPS } from '../../src/settings/settings.ts';

/** The table of error codes. */
export function errorsTable(): string {
  const codes: [string, ErrorCodeFacts][] = Object.entries(ERROR_CODES);
  const rows = codes.map(([code, { cause, remedy = 'Retry later.', retryable }]) => {
    const retry = retryable === true ? 'yes' : (retryable ?? 'no');
    return `| \`${code}\` | ${cause} | ${retry} | ${remedy} |`;
  });
  return ['| code | cause | retry | what to do |', '|---|---|---|---|', ...rows].join('\n');
}

/** The hosts that have the faults of a type in `src/sandbox/faults.ts`. */
const HOSTS_OF_FAULTS = {
  HttpFault: '`node`, `marketData`, `tokens`',
  NodeFault: '`node`',
  MarketDataFault: '`marketData`',
  TokenServiceFault: '`tokens`',
  PushFault: '`push`',
};

/** The table of the faults of the sandbox, from the text of `src/sandbox/faults.ts`: the members of its types, each with its comment. */
export function faultsTable(source: string): string {
  const rows = Object.entries(HOSTS_OF_FAULTS).flatMap(([type, hosts]) => {
    const [union = ''] = source.split(`export type ${type} =`)[1]?.split('\n\n') ?? [];
    return [...union.matchAll(/\/\*\*(.*?)\*\/\s*\| \(?(\{[^}]*\})/gs)].map(([, comment = '', fault = '']) => {
      const members = fault.replaceAll('readonly ', '').replaceAll(';', ',').replaceAll('|', '\\|');
      return `| ${hosts} | \`${members}\` | ${comment.replace(/\s*\n\s*\*/g, '').trim()} |`;
    });
  });
  return ['| host | fault | what it does |', '|---|---|---|', ...rows].join('\n');
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

/** The tables of docs/settings.md, one for each group. */
export function settingsTables(): string {
  return Object.entries(SETTING_GROUPS)
    .map(([title, settings]) => {
      const rows = Object.values(settings).map(tableRow);
      return [`## ${title}`, '', '| flag | variable | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
    })
    .join('\n\n');
}

function tableRow(setting: Setting): string {
  const { variable, default: byDefault } = setting;
  const meaning = descriptionOf(setting);
  return `| \`--${flagOf(setting)}\` | \`${variable}\` | ${byDefault && `\`${byDefault}\``} | ${meaning} |`;
}

/** The text of `.env.example`: every variable with its default. */
export function envExample(): string {
  const groups = Object.entries(SETTING_GROUPS).flatMap(([title, settings]) => [
    `## ${title}\n`,
    ...Object.values<Setting>(settings).map(envEntry),
  ]);
  const header = '# Settings of pdex-gateway. A flag overrides its variable. An empty variable is not set.\n';
  return [header, ...groups].join('\n');
}

function envEntry(setting: Setting): string {
  return `# ${descriptionOf(setting)}\n#${setting.variable}=${setting.default}\n`;
}
