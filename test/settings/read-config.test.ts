import { describe, expect, test } from 'vitest';
import { STABLE_COINS } from '../../src/domain/token.ts';
import { ConfigError, descriptionOf, flagOf, type Setting } from '../../src/settings/kinds.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { readOptions } from '../../src/settings/read-options.ts';
import { type Config, helpText, SETTING_GROUPS, SETTINGS } from '../../src/settings/settings.ts';
import { envExample, settingsTables } from '../support/doc-tables.ts';

const fixture = (name: string) => new URL(`../fixtures/config/${name}`, import.meta.url).pathname;

/** The values when nothing is set. */
const DEFAULTS: Config = {
  httpProxy: undefined,
  httpsProxy: undefined,
  noProxy: [],
  fullnodeUrl: [],
  fullnodeWsUrl: [],
  fullnodeHeaders: {},
  exchangeVersion: 'auto',
  exchangeProbeMs: 60_000,
  marketDataUrl: undefined,
  marketDataHeaders: {},
  marketDataPartner: 'market-data',
  host: '127.0.0.1',
  port: 4_000,
  adminPort: undefined,
  adminHost: undefined,
  tokensFile: [],
  tokensUrl: undefined,
  tokensPollMs: 3_600_000,
  usdTokens: STABLE_COINS,
  headPollMs: 1_000,
  maxBlockAgeMs: 600_000,
  marketPollMs: 10_000,
  orderBookTtlMs: 1_000,
  bookSweepPerMinute: 55,
  upstreamTimeoutMs: 10_000,
  upstreamMaxConnections: 16,
  upstreamMaxWaiting: 1_000,
  upstreamMaxPauseMs: 15_000,
  marketMaxAgeMs: 600_000,
  responseCacheBytes: 33_554_432,
  explorer: true,
  publicUrl: undefined,
  graphiql: true,
  rest: true,
  persistedDocuments: undefined,
  persistedOnly: false,
  corsOrigins: [],
  keepAliveMs: 12_000,
  stopWindowMs: 3_000,
  stopTimeoutMs: 3_000,
  maxDepth: 15,
  maxComplexity: 20_000,
  maxValues: 300_000,
  maxSchemaObjects: 30_000,
  maxSiblings: 1_000,
  maxNesting: 200,
  maxTokens: 10_000,
  maxPageSize: 500,
  maxCandles: 1_000,
  maxHistoryHours: 8_784,
  maxBodyBytes: 262_144,
  maxHeightsPerOperation: 64,
  maxResumedHeights: 32,
  maxOperationsPerRequest: 1,
  maxSubscriptionsPerConnection: 100,
  maxValuesPerConnection: 1_000_000,
  rateLimitPerSecond: undefined,
  rateLimitBurst: undefined,
  maxConnectionsPerAddress: undefined,
  trustedProxies: [],
  otelExporterOtlpEndpoint: undefined,
  otelExporterOtlpHeaders: {},
  otelExporterOtlpProtocol: 'http/protobuf',
  otelServiceName: '',
  otelResourceAttributes: {},
  otelTracesSampler: 'parentbased_always_on',
  otelTracesSamplerArg: 1,
  otelSdkDisabled: false,
  logLevel: 'info',
  accessLog: 'errors',
  historyDatabase: undefined,
  redisUrl: [],
  redisPrefix: 'pdex',
  historyRawDays: 7,
  historyBackfillHours: undefined,
  historyBackfillStep: undefined,
  tradesBackfillHours: undefined,
  sandbox: undefined,
  sandboxBlockMs: 4_000,
  sandboxExchange: 'v1',
};

const TOKENS = [
  { tokenId: 'a'.repeat(64), symbol: 'AAA', decimals: 0 },
  { tokenId: 'b'.repeat(64), symbol: undefined, decimals: undefined },
];

/** Each setting, set to something else than by default: as it is written, and as it is read. */
const OTHERWISE: [keyof Config, flag: string, variable: string, text: string, value: unknown][] = [
  ['httpProxy', 'http-proxy', 'HTTP_PROXY', 'http://me:secret@proxy', new URL('http://me:secret@proxy')],
  ['httpsProxy', 'https-proxy', 'HTTPS_PROXY', 'https://proxy:3128', new URL('https://proxy:3128')],
  ['noProxy', 'no-proxy', 'NO_PROXY', 'localhost, .example', ['localhost', '.example']],
  [
    'fullnodeUrl',
    'fullnode-url',
    'FULLNODE_URL',
    'http://a:9334, https://user:pass@b/rpc?key=1',
    [new URL('http://a:9334'), new URL('https://user:pass@b/rpc?key=1')],
  ],
  [
    'fullnodeWsUrl',
    'fullnode-ws-url',
    'FULLNODE_WS_URL',
    'wss://user:pass@a/push?key=1,',
    [new URL('wss://user:pass@a/push?key=1'), undefined],
  ],
  [
    'fullnodeHeaders',
    'fullnode-headers',
    'FULLNODE_HEADERS',
    'X-Api-Key: a:b\n\nAuthorization:Bearer c\\nx-note:  caf\u00e9 ',
    { 'x-api-key': 'a:b', authorization: 'Bearer c', 'x-note': 'caf\u00e9' },
  ],
  ['exchangeVersion', 'exchange-version', 'EXCHANGE_VERSION', 'v3', 'v3'],
  ['exchangeProbeMs', 'exchange-probe-ms', 'EXCHANGE_PROBE_MS', '1000', 1_000],
  ['marketDataUrl', 'market-data-url', 'MARKET_DATA_URL', 'https://market/base', new URL('https://market/base')],
  ['marketDataHeaders', 'market-data-headers', 'MARKET_DATA_HEADERS', 'x-key: 1\r\n', { 'x-key': '1' }],
  ['marketDataPartner', 'market-data-partner', 'MARKET_DATA_PARTNER', 'a-partner_1.0~', 'a-partner_1.0~'],
  ['host', 'host', 'HOST', '0.0.0.0', '0.0.0.0'],
  ['port', 'port', 'PORT', '0', 0],
  ['adminPort', 'admin-port', 'ADMIN_PORT', '9000', 9_000],
  ['adminHost', 'admin-host', 'ADMIN_HOST', '::1', '::1'],
  ['tokensFile', 'tokens-file', 'TOKENS_FILE', fixture('tokens.json'), TOKENS],
  ['headPollMs', 'head-poll-ms', 'HEAD_POLL_MS', '50', 50],
  ['maxBlockAgeMs', 'max-block-age-ms', 'MAX_BLOCK_AGE_MS', '60000', 60_000],
  ['marketPollMs', 'market-poll-ms', 'MARKET_POLL_MS', '51', 51],
  [
    'usdTokens',
    'usd-tokens',
    'USD_TOKENS',
    `${'ab'.repeat(32)}, ${'cd'.repeat(32)}`,
    ['ab'.repeat(32), 'cd'.repeat(32)],
  ],
  ['tokensUrl', 'tokens-url', 'TOKENS_URL', 'https://u:p@a/coins/tokenlist', new URL('https://u:p@a/coins/tokenlist')],
  ['tokensPollMs', 'tokens-poll-ms', 'TOKENS_POLL_MS', '60000', 60_000],
  ['orderBookTtlMs', 'order-book-ttl-ms', 'ORDER_BOOK_TTL_MS', '2147483647', 2_147_483_647],
  ['upstreamTimeoutMs', 'upstream-timeout-ms', 'UPSTREAM_TIMEOUT_MS', '1', 1],
  ['upstreamMaxConnections', 'upstream-max-connections', 'UPSTREAM_MAX_CONNECTIONS', '3', 3],
  ['upstreamMaxWaiting', 'upstream-max-waiting', 'UPSTREAM_MAX_WAITING', '0', 0],
  ['upstreamMaxPauseMs', 'upstream-max-pause-ms', 'UPSTREAM_MAX_PAUSE_MS', '1', 1],
  ['marketMaxAgeMs', 'market-max-age-ms', 'MARKET_MAX_AGE_MS', '1', 1],
  ['bookSweepPerMinute', 'book-sweep-per-minute', 'BOOK_SWEEP_PER_MINUTE', '0', 0],
  ['responseCacheBytes', 'response-cache-bytes', 'RESPONSE_CACHE_BYTES', '0', 0],
  ['explorer', 'explorer', 'EXPLORER', 'false', false],
  ['publicUrl', 'public-url', 'PUBLIC_URL', 'https://dex.example', new URL('https://dex.example')],
  ['graphiql', 'graphiql', 'GRAPHIQL', 'false', false],
  [
    'persistedDocuments',
    'persisted-documents',
    'PERSISTED_DOCUMENTS',
    fixture('persisted.json'),
    { path: fixture('persisted.json'), texts: new Map([['height', 'query Height { beaconHeight }']]) },
  ],
  ['rest', 'rest', 'REST', 'false', false],
  ['persistedOnly', 'persisted-only', 'PERSISTED_ONLY', 'true', true],
  [
    'corsOrigins',
    'cors-origins',
    'CORS_ORIGINS',
    'https://a.example, http://b:3000,HTTPS://*.C.example:443, https://d.example.,capacitor://localhost,app://-,file://,null,*',
    [
      ...['https://a.example', 'http://b:3000', 'https://*.c.example', 'https://d.example', 'capacitor://localhost'],
      ...['app://-', 'file://', 'null', '*'],
    ],
  ],
  ['keepAliveMs', 'keep-alive-ms', 'KEEP_ALIVE_MS', '50', 50],
  ['stopWindowMs', 'stop-window-ms', 'STOP_WINDOW_MS', '0', 0],
  ['stopTimeoutMs', 'stop-timeout-ms', 'STOP_TIMEOUT_MS', '0', 0],
  ['maxDepth', 'max-depth', 'MAX_DEPTH', '1', 1],
  ['maxComplexity', 'max-complexity', 'MAX_COMPLEXITY', '2147483647', 2_147_483_647],
  ['maxValues', 'max-values', 'MAX_VALUES', '11', 11],
  ['maxSchemaObjects', 'max-schema-objects', 'MAX_SCHEMA_OBJECTS', '7', 7],
  ['maxSiblings', 'max-siblings', 'MAX_SIBLINGS', '8', 8],
  ['maxNesting', 'max-nesting', 'MAX_NESTING', '9', 9],
  ['maxTokens', 'max-tokens', 'MAX_TOKENS', '2', 2],
  ['maxPageSize', 'max-page-size', 'MAX_PAGE_SIZE', '3', 3],
  ['maxCandles', 'max-candles', 'MAX_CANDLES', '3', 3],
  ['maxHistoryHours', 'max-history-hours', 'MAX_HISTORY_HOURS', '3', 3],
  ['maxBodyBytes', 'max-body-bytes', 'MAX_BODY_BYTES', '4', 4],
  ['maxHeightsPerOperation', 'max-heights-per-operation', 'MAX_HEIGHTS_PER_OPERATION', '5', 5],
  ['maxResumedHeights', 'max-resumed-heights', 'MAX_RESUMED_HEIGHTS', '5', 5],
  ['maxOperationsPerRequest', 'max-operations-per-request', 'MAX_OPERATIONS_PER_REQUEST', '10', 10],
  ['maxSubscriptionsPerConnection', 'max-subscriptions-per-connection', 'MAX_SUBSCRIPTIONS_PER_CONNECTION', '6', 6],
  ['maxValuesPerConnection', 'max-values-per-connection', 'MAX_VALUES_PER_CONNECTION', '12', 12],
  ['rateLimitPerSecond', 'rate-limit-per-second', 'RATE_LIMIT_PER_SECOND', '2147483647', 2_147_483_647],
  ['rateLimitBurst', 'rate-limit-burst', 'RATE_LIMIT_BURST', '1', 1],
  ['maxConnectionsPerAddress', 'max-connections-per-address', 'MAX_CONNECTIONS_PER_ADDRESS', '13', 13],
  [
    'trustedProxies',
    'trusted-proxies',
    'TRUSTED_PROXIES',
    '10.0.0.0/8, ::1,loopback',
    ['10.0.0.0/8', '::1', 'loopback'],
  ],
  [
    'otelExporterOtlpEndpoint',
    'otel-exporter-otlp-endpoint',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'http://collector:4318',
    new URL('http://collector:4318'),
  ],
  [
    'otelExporterOtlpHeaders',
    'otel-exporter-otlp-headers',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'X-A=1%2C2',
    { 'x-a': '1,2' },
  ],
  ['otelExporterOtlpProtocol', 'otel-exporter-otlp-protocol', 'OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', 'http/json'],
  ['otelServiceName', 'otel-service-name', 'OTEL_SERVICE_NAME', 'prices', 'prices'],
  [
    'otelResourceAttributes',
    'otel-resource-attributes',
    'OTEL_RESOURCE_ATTRIBUTES',
    'a=1, b.c=x=y',
    { a: '1', 'b.c': 'x=y' },
  ],
  ['otelTracesSampler', 'otel-traces-sampler', 'OTEL_TRACES_SAMPLER', 'traceidratio', 'traceidratio'],
  ['otelTracesSamplerArg', 'otel-traces-sampler-arg', 'OTEL_TRACES_SAMPLER_ARG', '.25', 0.25],
  ['otelSdkDisabled', 'otel-sdk-disabled', 'OTEL_SDK_DISABLED', 'true', true],
  ['logLevel', 'log-level', 'LOG_LEVEL', 'silent', 'silent'],
  ['accessLog', 'access-log', 'ACCESS_LOG', 'all', 'all'],
  [
    'historyDatabase',
    'history-database',
    'HISTORY_DATABASE',
    'postgres://me:secret@db/pdex',
    { kind: 'postgresql', url: 'postgres://me:secret@db/pdex' },
  ],
  ['historyRawDays', 'history-raw-days', 'HISTORY_RAW_DAYS', '30', 30],
  ['historyBackfillHours', 'history-backfill-hours', 'HISTORY_BACKFILL_HOURS', '0', 0],
  ['historyBackfillStep', 'history-backfill-step', 'HISTORY_BACKFILL_STEP', '60', 60],
  ['tradesBackfillHours', 'trades-backfill-hours', 'TRADES_BACKFILL_HOURS', '24', 24],
  ['redisUrl', 'redis-url', 'REDIS_URL', 'rediss://:secret@host/1', [new URL('rediss://:secret@host/1')]],
  ['redisPrefix', 'redis-prefix', 'REDIS_PREFIX', 'pdex-2', 'pdex-2'],
  ['sandbox', 'sandbox', 'SANDBOX', 'true', true],
  ['sandboxBlockMs', 'sandbox-block-ms', 'SANDBOX_BLOCK_MS', '1', 1],
  ['sandboxExchange', 'sandbox-exchange', 'SANDBOX_EXCHANGE', 'v3', 'v3'],
];

/** The problems that `readConfig` reports. */
function problemsOf(args: readonly string[], env: NodeJS.ProcessEnv = {}): readonly string[] {
  try {
    readConfig(args, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** The settings that need another one. */
const DEPENDENT: readonly (keyof Config)[] = ['persistedOnly', 'fullnodeWsUrl', 'adminHost', 'rateLimitBurst'];

/** The settings that can be set without another one; `PERSISTED_ONLY` is tested with its manifest. */
const ALONE = OTHERWISE.filter(([key]) => !DEPENDENT.includes(key));

describe('values of settings', () => {
  test('each setting has a default', () => {
    expect(readConfig([], {})).toEqual(DEFAULTS);
    // The server of a program has pages of its own.
    expect(readOptions({})).toEqual({ ...DEFAULTS, explorer: false });
  });

  test('each setting has a test', () => {
    const declared = Object.entries(SETTINGS).map(([key, setting]) => [key, flagOf(setting), setting.variable]);
    expect(declared.toSorted()).toEqual(OTHERWISE.map(([key, flag, variable]) => [key, flag, variable]).toSorted());
  });

  test.each(ALONE)(
    '%s: from its flag, even where the variable makes no sense, or from its variable, and no other setting changes',
    (key, flag, variable, text, value) => {
      const expected = { ...DEFAULTS, [key]: value };
      const nonsense = key === 'host' ? 'another' : '\n?';
      expect(readConfig([`--${flag}`, text], {})).toEqual(expected);
      expect(readConfig([`--${flag}=${text}`], { [variable]: nonsense })).toEqual(expected);
      expect(readConfig([], { [variable]: text, NODE_USE_ENV_PROXY: '1' })).toEqual(expected);
    },
  );

  test.each(OTHERWISE)('%s: not from an empty variable', (_, _flag, variable) => {
    expect(readConfig([], { [variable]: '' })).toEqual(DEFAULTS);
  });

  test('from the last of two equal flags', () => {
    expect(readConfig(['--port', '1', '--port', '2'], {})).toEqual({ ...DEFAULTS, port: 2 });
  });

  test('all settings at once, except the sandbox', () => {
    const all = OTHERWISE.filter(([key]) => key !== 'sandbox');
    const expected = { sandbox: undefined, ...Object.fromEntries(all.map(([key, , , , value]) => [key, value])) };
    const args = all.flatMap(([, flag, , text]) => [`--${flag}`, text]);
    const env = Object.fromEntries(all.map(([, , variable, text]) => [variable, text]));
    expect(readConfig(args, {})).toEqual(expected);
    expect(readConfig([], { ...env, NODE_USE_ENV_PROXY: '1' })).toEqual(expected);
  });

  test.each([
    [['--sandbox'], { sandbox: true }],
    [['--sandbox', '--port', '1'], { sandbox: true, port: 1 }],
    [['--sandbox', 'true', '--port', '1'], { sandbox: true, port: 1 }],
    [['--graphiql', '--sandbox'], { sandbox: true }],
    [['--graphiql', 'false', '--sandbox=true'], { sandbox: true, graphiql: false }],
  ])('from a switch without a value: %j', (args, set) => {
    expect(readConfig(args, {})).toEqual({ ...DEFAULTS, ...set });
  });
});

describe('real or simulated data', () => {
  const PRODUCTION = { NODE_ENV: 'production' };
  const REMEDY = 'set one of them, or --sandbox (SANDBOX=true) for simulated data';
  const NOT_SET = `neither FULLNODE_URL nor MARKET_DATA_URL is set, and NODE_ENV is production: ${REMEDY}`;

  test('in production the sandbox needs a setting', () => {
    expect(problemsOf([], PRODUCTION)).toEqual([NOT_SET]);
    for (const url of ['fullnode-url', 'market-data-url']) {
      expect(problemsOf([`--${url}=http://a`], PRODUCTION)).toEqual([]);
    }
    expect(readConfig(['--sandbox'], PRODUCTION)).toEqual({ ...DEFAULTS, sandbox: true });
    expect(readConfig([], { ...PRODUCTION, SANDBOX: 'true' })).toEqual({ ...DEFAULTS, sandbox: true });
    expect(problemsOf([], { ...PRODUCTION, SANDBOX: '' })).toEqual([NOT_SET]);
    expect(readConfig([], { NODE_ENV: 'development' })).toEqual(DEFAULTS);
  });

  test('the problem suggests the intended variable, without its value', () => {
    expect(problemsOf([], { ...PRODUCTION, FULNODE_URL: 'https://key@node' })).toEqual([
      `${NOT_SET}; FULNODE_URL is not a setting: did you mean FULLNODE_URL?`,
    ]);
  });

  test('SANDBOX=false is never simulated', () => {
    expect(problemsOf([], { SANDBOX: 'false' })).toEqual([
      `neither FULLNODE_URL nor MARKET_DATA_URL is set, and SANDBOX is false: ${REMEDY}`,
    ]);
    expect(problemsOf(['--sandbox=false', '--fullnode-url=http://a'])).toEqual([]);
  });

  test.each(['FULLNODE_URL', 'MARKET_DATA_URL'])('the sandbox together with %s is refused', (variable) => {
    expect(problemsOf([], { SANDBOX: 'true', [variable]: 'http://a' })).toEqual([
      'SANDBOX is true, but FULLNODE_URL or MARKET_DATA_URL is set: real and simulated data never mix',
    ]);
  });

  test.each(['FULLNODE_URL', 'MARKET_DATA_URL', 'SANDBOX'])('one problem if %s cannot be read', (variable) => {
    expect(problemsOf([], { ...PRODUCTION, [variable]: 'ftp://a' })).toHaveLength(1);
  });
});

describe('the websockets of nodes', () => {
  test('are as many as the nodes, of which some may have none', () => {
    const nodes = { FULLNODE_URL: 'http://a,http://b' };
    expect(problemsOf([], { ...nodes, FULLNODE_WS_URL: 'ws://a,wss://b' })).toEqual([]);
    expect(problemsOf([], { ...nodes, FULLNODE_WS_URL: ',ws://b' })).toEqual([]);
    expect(problemsOf([], { ...nodes, FULLNODE_WS_URL: 'ws://a' })).toEqual([
      'FULLNODE_WS_URL has 1 URL, but FULLNODE_URL has 2: expected one for each node, or an empty one',
    ]);
    expect(problemsOf([], { MARKET_DATA_URL: 'http://a', FULLNODE_WS_URL: 'ws://a' })).toEqual([
      'FULLNODE_WS_URL is set, but FULLNODE_URL is not: a pushed block is read from the node',
    ]);
  });

  test('are all different, and have ws or wss', () => {
    const problemOf = (text: string) => problemsOf([], { FULLNODE_URL: 'http://a,http://b', FULLNODE_WS_URL: text });
    const hidden = 'FULLNODE_WS_URL (not shown, it may contain a secret)';
    expect(problemOf('ws://key@a,ws://key@a')).toEqual([
      `${hidden}: URL 2 of 2: expected another one: each node has one websocket`,
    ]);
    expect(problemOf('ws://a,http://key@a')).toEqual([`${hidden}: URL 2 of 2: expected a URL with ws or wss`]);
    expect(problemsOf([], { FULLNODE_URL: 'a', FULLNODE_WS_URL: 'ws://a' })).toHaveLength(1);
  });
});

describe('settings that have no effect without another one', () => {
  test.each([
    ['ADMIN_HOST', '::1', 'ADMIN_PORT', 'ADMIN_PORT is not: /health, /ready and /metrics would stay on PORT'],
    [
      'RATE_LIMIT_BURST',
      '9',
      'RATE_LIMIT_PER_SECOND',
      'RATE_LIMIT_PER_SECOND is not, or is 0: nothing would be limited',
    ],
  ])('%s=%s needs %s', (variable, text, other, problem) => {
    expect(problemsOf([], { [variable]: text })).toEqual([`${variable} is set, but ${problem}`]);
    expect(problemsOf([], { [variable]: text, [other]: '81' })).toEqual([]);
    expect(problemsOf([], { [variable]: text, [other]: 'x' })).toHaveLength(1);
  });

  test('RATE_LIMIT_BURST of 0 is not set', () => {
    expect(problemsOf([], { RATE_LIMIT_BURST: '0' })).toEqual([]);
    expect(problemsOf([], { RATE_LIMIT_BURST: '9', RATE_LIMIT_PER_SECOND: '0' })).toHaveLength(1);
  });
});

describe('invalid values', () => {
  const whole = (min: number, max: number) => `expected a whole number from ${min} to ${max}`;
  const interval = whole(50, 2_147_483_647);
  const timer = whole(1, 2_147_483_647);

  test.each([
    [
      'market-data-partner',
      ['a/b', 'a b', '..%2f', 'é', '?'],
      'expected one segment of a path: letters, digits and - . _ ~',
    ],
    ...['host', 'admin-host'].map((flag): [string, string[], string] => [
      flag,
      ['0.0.0.0:4000', 'http://0.0.0.0', '[::1]', ':::1:4000', 'a b', ' ', 'a/b', '*'],
      'expected an address or a host name, without a port',
    ]),
    ['port', ['-1', '65536', '1.5', '0x10', '1e3', ' 80', '80 ', 'http', '+80'], whole(0, 65_535)],
    ['admin-port', ['-1', '65536', 'off'], whole(0, 65_535)],
    ['head-poll-ms', ['49', '0', '2147483648', '1s', '100.0'], interval],
    ['market-poll-ms', ['49', '-50'], interval],
    ['order-book-ttl-ms', ['49', 'Infinity', '99999999999999999999'], interval],
    ...['exchange-probe-ms', 'tokens-poll-ms', 'keep-alive-ms'].map((flag): [string, string[], string] => [
      flag,
      ['49'],
      interval,
    ]),
    ...[
      ...['upstream-timeout-ms', 'upstream-max-pause-ms', 'max-block-age-ms', 'market-max-age-ms', 'sandbox-block-ms'],
      ...['history-backfill-step', 'max-depth', 'max-tokens', 'max-body-bytes', 'max-operations-per-request'],
    ].map((flag): [string, string[], string] => [flag, ['0', '2147483648'], timer]),
    ...['stop-window-ms', 'stop-timeout-ms', 'response-cache-bytes', 'upstream-max-waiting'].map(
      (flag): [string, string[], string] => [flag, ['-1', '2147483648'], whole(0, 2_147_483_647)],
    ),
    ['upstream-max-connections', ['2', '2147483648'], whole(3, 2_147_483_647)],
    // A hundred years.
    ['history-raw-days', ['0', '36501'], whole(1, 36_500)],
    ['history-backfill-hours', ['-1', '876001'], whole(0, 876_000)],
    ['trades-backfill-hours', ['-1', '876001'], whole(0, 876_000)],
    ['exchange-version', ['V3', '3'], 'expected one of auto, v1, v3'],
    ['book-sweep-per-minute', ['-1', '6001', '0.5'], whole(0, 6_000)],
    ['access-log', ['ALL', 'on', 'true'], 'expected one of off, errors, all'],
    ['sandbox', ['yes', '1', 'TRUE'], 'expected true or false'],
    ['rate-limit-per-second', ['-1', '0.5', 'many', '2147483648'], whole(0, 2_147_483_647)],
    ['rate-limit-burst', ['-1', '1e3'], whole(0, 2_147_483_647)],
    ['max-connections-per-address', ['-1', 'none'], whole(0, 2_147_483_647)],
    [
      'trusted-proxies',
      ['proxy.example', '10.0.0.0/33', '0.0.0.0/0', '10.0.0.1,', '*', '10.0.0.1/'],
      'expected addresses or ranges, such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
    ],
    [
      'usd-tokens',
      ['USDT', 'AB'.repeat(32), `${'ab'.repeat(32)},`],
      'expected token ids: 64 lowercase hexadecimal characters each',
    ],
    // What can match no page.
    [
      'cors-origins',
      [
        ...[
          'https://app.example/',
          'app.example',
          'https://',
          'https://*',
          'https://*.',
          'https://app.*.example',
          '*.app.example',
        ],
        ...['https://app*.example', 'https://*.*.example', 'https://*.127.0.0.1', 'https://a b'],
        ...[
          'ws://app.example',
          'data://',
          'about:blank',
          'NULL',
          'https://app.example:port',
          'https://a.example:99999',
        ],
      ],
      'expected the origin of a page, such as https://app.example or https://*.app.example, null, or *',
    ],
    ['log-level', ['verbose', 'INFO', ' info'], 'expected one of trace, debug, info, warn, error, fatal, silent'],
  ])('--%s', (flag, texts, problem) => {
    const [, , variable = ''] = OTHERWISE.find(([, known]) => known === flag) ?? [];
    for (const text of texts) {
      expect(problemsOf([`--${flag}=${text}`])).toEqual([`--${flag} is ${JSON.stringify(text)}: ${problem}`]);
      expect(problemsOf([], { [variable]: text })).toEqual([`${variable} is ${JSON.stringify(text)}: ${problem}`]);
    }
  });

  const url = 'expected a URL with http or https';

  test.each([
    ['fullnode-url', 'node', url],
    ['fullnode-url', 'ftp://node', url],
    ['fullnode-url', 'http://', url],
    ['fullnode-url', 'http://a,', `URL 2 of 2, which is empty: ${url}`],
    ['fullnode-url', 'http://a, s3cret-word@b, https://c', `URL 2 of 3: ${url}`],
    ['fullnode-url', 'http://name:s3cret,word@b', `URL 1 of 2: ${url}`],
    ['market-data-url', 'host', url],
    ['market-data-url', 'file:///etc/passwd', url],
    ['market-data-url', 'http://name:s3cret-word@host:port/', url],
    ['fullnode-headers', 's3cret-word', 'line 1: expected `name: value`'],
    ['fullnode-headers', 'x-key: a\n\ns3cret word: b', 'line 3: expected `name: value`'],
    ['fullnode-headers', ': s3cret-word', 'line 1: expected `name: value`'],
    ['fullnode-headers', 'x-key: ', 'line 1: the header has no value'],
    ['fullnode-headers', 'x-key: s3cret-word\u0000', 'line 1: the value has characters that HTTP does not allow'],
    ['fullnode-headers', 'x-key: s3cret-word-\u20ac', 'line 1: the value has characters that HTTP does not allow'],
    ['fullnode-headers', 'x-key: a\\nX-Key: s3cret-word', 'line 2: the header is set twice'],
    ['market-data-headers', 'Host: s3cret-word', 'line 1: `host` cannot be set'],
    ['market-data-headers', 'Content-Length: 7', 'line 1: `content-length` cannot be set'],
    ['market-data-headers', 'Transfer-Encoding: chunked', 'line 1: `transfer-encoding` cannot be set'],
    ['market-data-headers', 'Accept-Encoding: br', 'line 1: `accept-encoding` cannot be set'],
  ])('--%s, whose text is not printed: %j', (flag, text, problem) => {
    const [, , variable = ''] = OTHERWISE.find(([, known]) => known === flag) ?? [];
    const hidden = '(not shown, it may contain a secret)';
    expect(problemsOf([`--${flag}=${text}`])).toEqual([`--${flag} ${hidden}: ${problem}`]);
    expect(problemsOf([], { [variable]: text })).toEqual([`${variable} ${hidden}: ${problem}`]);
  });

  // RFC 9110, section 7.6.1, and what the gateway sets itself. undici refuses requests with most of them.
  test.each([
    ...['accept', 'content-type', 'content-encoding', 'expect', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade'],
    ...['proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ])('the header %s, which belongs to one connection or to the gateway', (name) => {
    expect(problemsOf([], { FULLNODE_HEADERS: `${name}: 1` })).toEqual([
      `FULLNODE_HEADERS (not shown, it may contain a secret): line 1: \`${name}\` cannot be set`,
    ]);
  });

  test.each(['rateLimitPerSecond', 'rateLimitBurst', 'maxConnectionsPerAddress'] as const)(
    '%s of 0 means no limit',
    (key) => {
      expect(readConfig([`--${flagOf(SETTINGS[key])}=0`], {})).toEqual(DEFAULTS);
    },
  );

  test('a segment that leaves its folder', () => {
    expect(problemsOf(['--market-data-partner', '..']).length).toBe(1);
    expect(problemsOf(['--market-data-partner', '.']).length).toBe(1);
  });

  test.each(['0.0.0.0', '::', 'fe80::1%eth0', 'localhost', 'db-1.example', 'my_host', 'b\u00fccher.example'])(
    'not the host %s',
    (host) => {
      expect(problemsOf([], { HOST: host, ADMIN_HOST: host, ADMIN_PORT: '81' })).toEqual([]);
    },
  );

  test('an empty host, which would mean every address of the machine', () => {
    expect(problemsOf(['--host=']).length).toBe(1);
  });

  test.each([
    ['there is none', 'nowhere', `ENOENT: no such file or directory, open '${fixture('nowhere')}'`],
    ['it is a folder', '.', 'EISDIR: illegal operation on a directory, read'],
    ['it is not JSON', 'not-json.txt', 'the file is not JSON: Unexpected end of JSON input'],
    ['it is no list', 'no-list.json', 'expected an array of {"id", "symbol", "decimals"}'],
    ['its tokens have problems', 'bad-tokens.json', 'expected 64 lowercase hexadecimal characters at $[0].id'],
  ])('a tokens file: %s', (_, name, problem) => {
    const path = fixture(name);
    expect(problemsOf([], { TOKENS_FILE: path })).toEqual([`TOKENS_FILE is ${JSON.stringify(path)}: ${problem}`]);
  });
});

describe('problems of settings', () => {
  test('all problems together, a line each, those of the command line first', () => {
    const args = ['--nope', '--port', 'many', 'word', '-x', '--log-level=loud', '--tokens-file'];
    const env = { HEAD_POLL_MS: '1', PORT: 'also bad, but not asked', SANDBOX_BLOCK_MS: 'soon' };
    const problems = [
      '--nope is not a flag: see --help',
      '"word" is not a flag',
      '-x is not a flag: see --help',
      '--tokens-file needs a value',
      '--port is "many": expected a whole number from 0 to 65535',
      'HEAD_POLL_MS is "1": expected a whole number from 50 to 2147483647',
      '--log-level is "loud": expected one of trace, debug, info, warn, error, fatal, silent',
      'SANDBOX_BLOCK_MS is "soon": expected a whole number from 1 to 2147483647',
    ];
    expect(problemsOf(args, env)).toEqual(problems);
    expect(() => readConfig(args, env)).toThrow(problems.join('\n'));
  });

  test.each(['--no-port', '--__proto__', '--toString', '-p'])('an unknown flag: %s', (flag) => {
    expect(problemsOf([`${flag}=5`])).toContain(
      `${flag.slice(0, flag.startsWith('--') ? undefined : 2)} is not a flag: see --help`,
    );
  });

  test.each([
    ['--prot', '--port'],
    ['--ports', '--port'],
    ['--PORT', '--port'],
    ['--log-levle', '--log-level'],
    ['--fulnode-url', '--fullnode-url'],
  ])('a misspelt flag, with the one that was meant: %s', (flag, meant) => {
    expect(problemsOf([`${flag}=5`])).toContain(`${flag} is not a flag: did you mean ${meant}?`);
  });

  test.each([
    [['--fullnode-headers', 'x-key:', 's3cret-word'], 'argument 3'],
    [['--fulnode-url', 's3cret-word'], 'argument 2'],
    [['--port=1', '--s3cret@word'], 'argument 2'],
    [['--port=1', `--s3cret-word${'-'.repeat(40)}`], 'argument 2'],
    [['-s3cret-word'], '-s is not a flag'],
    [['http://name:s3cret-word@host/s3cret-word'], '"http://[redacted]"'],
  ])('no argument that may be a part of a secret is printed: %j', (args, shown) => {
    const problems = problemsOf(args).join('\n');
    expect(problems).toContain(shown);
    expect(problems).not.toContain('s3cret');
  });

  test('a secret of a valid setting is not printed with an invalid one', () => {
    const env = { FULLNODE_URL: 'http://name:s3cret-word@host/', MARKET_DATA_PARTNER: '?key=s3cret-word' };
    const CORS_ORIGINS = 'https://name:s3cret-word@app.example, https://app.example/s3cret-word';
    expect(problemsOf([], { ...env, CORS_ORIGINS })).toEqual([
      'CORS_ORIGINS is "https://[redacted] https://app.example/[redacted]": origin 1 of 2: expected the origin of a page, such as https://app.example or https://*.app.example, null, or *',
      'MARKET_DATA_PARTNER is "?key=[redacted]": expected one segment of a path: letters, digits and - . _ ~',
    ]);
  });

  test('origins are printed, also if the path of a URL has the same word', () => {
    const env = {
      FULLNODE_URL: 'https://node.example/app',
      CORS_ORIGINS: 'null,https://app.example,http://b.example/,https://c.example',
    };
    expect(problemsOf([], env)).toEqual([
      'CORS_ORIGINS is "null,https://app.example,http://b.example/,https://c.example": origin 3 of 4: expected the origin of a page, such as https://app.example or https://*.app.example, null, or *',
    ]);
  });

  test('other environment variables are ignored', () => {
    expect(readConfig([], { PATH: '/bin', PORTS: 'x', FULLNODE: 'y' })).toEqual(DEFAULTS);
  });
});

describe('texts that are printed', () => {
  test.each([
    [['--help'], 'help'],
    [['-h'], 'help'],
    [['--version'], 'version'],
    [['-v'], 'version'],
    [['--help', '--version'], 'help'],
    [['--port', 'bad', '--help'], 'help'],
  ])('%j prints the %s, even with invalid settings', (args, wanted) => {
    expect(readConfig(args, { PORT: 'bad' })).toBe(wanted);
  });

  test('the help has every flag, variable, default and meaning, and the title of each group', () => {
    const text = helpText();
    for (const setting of Object.values<Setting>(SETTINGS)) {
      const { variable, default: byDefault } = setting;
      const meaning = descriptionOf(setting);
      const suffix = byDefault === '' ? '' : ` (default ${byDefault})`;
      expect(text).toContain(`\n  --${flagOf(setting)}, ${variable}${suffix}\n      ${meaning}\n`);
    }
    for (const title of Object.keys(SETTING_GROUPS)) expect(text).toContain(`\n\n${title}:\n`);
    expect(text).toContain('--help');
    expect(text).toContain('--version');
  });

  test('the tables of the documents and .env.example have every setting once', () => {
    const rows = settingsTables().split('\n');
    const lines = envExample().split('\n');
    for (const setting of Object.values<Setting>(SETTINGS)) {
      const { variable, default: byDefault } = setting;
      const meaning = descriptionOf(setting);
      const flag = flagOf(setting);
      const cell = byDefault === '' ? '' : `\`${byDefault}\``;
      expect(rows.filter((row) => row.startsWith(`| \`--${flag}\` |`))).toEqual([
        `| \`--${flag}\` | \`${variable}\` | ${cell} | ${meaning} |`,
      ]);
      expect(lines[lines.indexOf(`# ${meaning}`) + 1]).toBe(`#${variable}=${byDefault}`);
    }
  });

  test('every default is read from its text', () => {
    const written = Object.entries(SETTINGS).map(([key, setting]) => [key, setting.read(setting.default)]);
    expect(Object.fromEntries(written)).toEqual(DEFAULTS);
  });
});
