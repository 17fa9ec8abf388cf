import { LIMITS, type Limits, mapLimits } from '../graphql/limits.ts';
import { readTokensFile } from './files.ts';
import {
  DEFAULT_BACKFILL_HOURS,
  DEFAULT_BACKFILL_STEP,
  DEFAULT_HISTORY_FILE,
  readHistoryDatabase,
} from './history-database.ts';
import {
  BOOLEAN,
  declare,
  descriptionOf,
  flagOf,
  LIST,
  MILLISECONDS,
  OPTIONAL_URL,
  oneOf,
  optional,
  PORT,
  type Setting,
  URLS,
  whole,
} from './kinds.ts';
import { readHost, readMatching, readOrigins, readRedisUrls, readUrls } from './readers.ts';
import { RATE_LIMITS, SERVER, TRACES } from './server-settings.ts';
import { FRESHNESS, PROXIES, UPSTREAMS } from './upstream-settings.ts';

/** A hundred years. */
const MAX_DAYS = 36_500;

const ESSENTIAL = declare({
  fullnodeUrl: {
    ...URLS,
    meaning: "URL of the full node's JSON-RPC API, or several URLs.",
    read: readUrls,
  },
  marketDataUrl: {
    ...OPTIONAL_URL,
    meaning:
      'URL of the market-data host. The gateway appends the path `/api/v1/public/<partner>/…`. If the URL contains `/api/v1/public`, it appends only what the URL lacks after that.',
  },
  host: {
    default: '127.0.0.1',
    meaning: 'Address to listen on.',
    read: readHost,
  },
  port: {
    ...PORT,
    default: '4000',
    meaning: 'Port to listen on. With 0, the system chooses a free port, which the log contains.',
  },
  tokensFile: {
    meaning:
      'Path of a JSON file `[{"id", "symbol", "decimals"}]`. Its tokens override those of `TOKENS_URL` and of the built-in list.',
    read: (path) => (path === '' ? [] : readTokensFile(path)),
  },
  corsOrigins: {
    ...LIST,
    meaning:
      "Origins of pages that can send requests and open websockets, besides the gateway's own, or `*` for all. `https://*.app.example` stands for all subdomains.",
    read: readOrigins,
  },
});

const HISTORY = declare({
  historyDatabase: {
    meaning: `Where the history of the exchange is recorded: the path of a SQLite file, a \`postgres://\` URL, \`memory\`, or \`off\`. By default \`memory\` with the built-in sandbox, otherwise \`${DEFAULT_HISTORY_FILE}\` in the working directory.`,
    isSecret: true,
    read: readHistoryDatabase,
  },
  historyRawDays: {
    ...whole(1, MAX_DAYS),
    default: '7',
    meaning:
      'How long each change of a pool is stored, in days by the times of blocks. Candles of up to 15 minutes are stored for at least 90 days, and longer candles forever.',
  },
  historyBackfillHours: {
    kind: 'number',
    meaning: `How far back the gateway reads missing heights from the node, in hours before the newest block, at most as far as \`HISTORY_RAW_DAYS\`. With 0, it reads only those that it has missed since its start. By default ${DEFAULT_BACKFILL_HOURS.node}, and ${DEFAULT_BACKFILL_HOURS.sandbox} with the built-in sandbox.`,
    read: optional(whole(0, MAX_DAYS * 24).read),
  },
  historyBackfillStep: {
    kind: 'number',
    meaning: `Step between the missing heights that the gateway reads from the node: with 12, it reads every twelfth height. It fills shorter gaps completely. By default ${DEFAULT_BACKFILL_STEP}; of the newest day of the built-in sandbox, it reads every height.`,
    read: optional(whole(1).read),
  },
  tradesBackfillHours: {
    kind: 'number',
    meaning:
      'How far back the gateway reads the trades of earlier blocks from the node, in hours before the newest block, at most as far as `HISTORY_RAW_DAYS`. With 0, it reads only blocks that it has missed since the first one whose trades it recorded. By default 0, and with the built-in sandbox 24, or less if `HISTORY_BACKFILL_HOURS` is less.',
    read: optional(whole(0, MAX_DAYS * 24).read),
  },
});

const FLEET = declare({
  redisUrl: {
    ...URLS,
    meaning:
      'URL of the Redis that the gateways of a fleet share: `redis://`, or `rediss://` over TLS. Several URLs are nodes of a cluster. For a cluster with one endpoint, the scheme is `redis+cluster://`. For Sentinels, the URL is `redis+sentinel://host:26379/<name of the primary>`. By default, the gateway works alone.',
    read: readRedisUrls,
  },
  redisPrefix: {
    default: 'pdex',
    meaning:
      'Prefix of all keys in Redis. Gateways with the same `REDIS_URL` and the same prefix are one fleet, and must follow the same chain.',
    read: (text) => readMatching(text, /^[\w.:-]{1,64}$/, '1 to 64 letters, digits and - . _ :'),
  },
});

const SANDBOX = declare({
  sandbox: {
    ...BOOLEAN,
    meaning:
      'Whether to serve simulated data of the built-in sandbox: true or false. By default, true if no upstream is configured.',
    ofText: 'With `NODE_ENV=production`, false by default.',
    read: optional(BOOLEAN.read),
  },
  sandboxBlockMs: {
    ...MILLISECONDS,
    default: '4000',
    meaning: 'Block interval of the sandbox, in milliseconds.',
  },
  sandboxExchange: {
    ...oneOf(['v1', 'v3']),
    default: 'v1',
    meaning:
      'Which version of the exchange trades in the sandbox. `v3` has several pools of the same two tokens, amplified pools and orders, as the main network has today.',
  },
});

/** The settings by subject, in the order in which they are printed. */
export const SETTING_GROUPS = {
  'The six that matter first': ESSENTIAL,
  Upstreams: UPSTREAMS,
  Proxies: PROXIES,
  Freshness: FRESHNESS,
  Server: SERVER,
  Limits: declare(mapLimits(limitSetting)),
  'Rate limits': RATE_LIMITS,
  'Traces (OpenTelemetry)': TRACES,
  History: HISTORY,
  'Fleet (Redis)': FLEET,
  Sandbox: SANDBOX,
} satisfies Readonly<Record<string, Readonly<Record<string, Setting>>>>;

/** All settings. */
export const SETTINGS = {
  ...ESSENTIAL,
  ...UPSTREAMS,
  ...PROXIES,
  ...FRESHNESS,
  ...SERVER,
  ...SETTING_GROUPS.Limits,
  ...RATE_LIMITS,
  ...TRACES,
  ...HISTORY,
  ...FLEET,
  ...SANDBOX,
};

/** The values of all settings. */
export type Config = { readonly [Key in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Key]['read']> };

/** The setting of a limit, which has the same name as a field of `service.limits`. */
function limitSetting(name: keyof Limits) {
  return { ...whole(1), default: String(LIMITS[name].default), meaning: LIMITS[name].meaning };
}

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
