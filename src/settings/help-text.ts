import { descriptionOf, flagOf, type Setting } from './setting.ts';
import { SETTING_GROUPS } from './settings.ts';

/** What `--help` prints. */
export function helpText(): string {
  const groups = Object.entries(SETTING_GROUPS).map(([title, settings]) =>
    ['', `${title}:`, ...Object.values(settings).map(helpEntry)].join('\n'),
  );
  return [
    'pdex-gateway: one GraphQL endpoint over a full node and the market data of its exchange',
    '',
    'Usage: pdex-gateway [--flag value …]',
    '',
    'Each setting is a flag or an environment variable. The flag overrides the variable.',
    'If neither FULLNODE_URL nor MARKET_DATA_URL is set, a built-in sandbox simulates both. With NODE_ENV=production, this needs --sandbox.',
    ...groups,
    '',
    'Other flags:',
    '  --help, -h\n      Print this text.',
    '  --version, -v\n      Print the version.',
    '',
  ].join('\n');
}

function helpEntry(setting: Setting): string {
  const { variable, default: byDefault } = setting;
  const suffix = byDefault === '' ? '' : ` (default ${byDefault})`;
  return `  --${flagOf(setting)}, ${variable}${suffix}\n      ${descriptionOf(setting)}`;
}
