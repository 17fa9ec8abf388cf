import { SETTINGS } from './settings.ts';

/** What `--help` prints. */
export function helpText(): string {
  const lines = Object.values(SETTINGS).map(({ flag, variable, default: byDefault, meaning }) => {
    const unset = byDefault === '' ? '' : ` (default ${byDefault})`;
    return `  --${flag.padEnd(22)} ${variable.padEnd(22)} ${meaning}${unset}`;
  });
  return [
    'pdex-gateway: one GraphQL endpoint over a full node and the market data of its exchange',
    '',
    'Usage: pdex-gateway [--flag value …]',
    '',
    'Each setting is a flag or a variable of the environment; the flag comes first.',
    'Without a URL of either upstream, a built-in sandbox plays both.',
    '',
    ...lines,
    `  --${'help'.padEnd(45)} prints this`,
    `  --${'version'.padEnd(45)} prints the version`,
    '',
  ].join('\n');
}

/** The table of the README. */
export function settingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ flag, variable, default: byDefault, meaning }) => {
    const unset = byDefault === '' ? '' : `\`${byDefault}\``;
    return `| \`--${flag}\` | \`${variable}\` | ${unset} | ${meaning} |`;
  });
  return ['| flag | variable | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** What `.env.example` holds: every variable, as it is where nobody sets it. */
export function envExample(): string {
  const entries = Object.values(SETTINGS).map(
    ({ variable, default: byDefault, meaning }) => `# ${meaning}\n#${variable}=${byDefault}\n`,
  );
  return ['# Settings of pdex-gateway; the flag of the same name comes first. Empty is not set.\n', ...entries].join(
    '\n',
  );
}
