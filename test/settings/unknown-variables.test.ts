import { expect, test } from 'vitest';
import { readConfig } from '../../src/settings/read-config.ts';
import { readOptions } from '../../src/settings/read-options.ts';
import { SETTINGS } from '../../src/settings/settings.ts';
import { findUnknownVariables } from '../../src/settings/unknown-variables.ts';

const unknown = (...names: string[]) =>
  findUnknownVariables(Object.fromEntries(names.map((name) => [name, 'a secret'])));

test.each([
  ['FULNODE_URL', 'FULLNODE_URL'],
  ['FULL_NODE_URL', 'FULLNODE_URL'],
  ['FULLNODE_URLS', 'FULLNODE_URL'],
  ['FULLNODE_ULR', 'FULLNODE_URL'],
  ['fullnode_url', 'FULLNODE_URL'],
  ['MARKETDATA_URL', 'MARKET_DATA_URL'],
  ['MARKET_DATA_PARTNERS', 'MARKET_DATA_PARTNER'],
  ['CORS_ORIGIN', 'CORS_ORIGINS'],
  ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
  ['RATE_LIMIT', 'RATE_LIMIT_PER_SECOND'],
  ['RATE_LIMIT_PER_SEC', 'RATE_LIMIT_PER_SECOND'],
  ['MAX_CONNECTIONS', 'MAX_CONNECTIONS_PER_ADDRESS'],
  ['STOP_WINDOW', 'STOP_WINDOW_MS'],
  ['UPSTREAM_TIMEOUT', 'UPSTREAM_TIMEOUT_MS'],
  ['HISTORY_DB', 'HISTORY_DATABASE'],
  ['PERSISTED_DOCS', 'PERSISTED_DOCUMENTS'],
  ['RATE_LIMIT_PER_SECONDS', 'RATE_LIMIT_PER_SECOND'],
  ['SANDOBX', 'SANDBOX'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'],
])('%s is near %s', (name, meant) => {
  expect(unknown(name)).toEqual([`${name} is not a setting: did you mean ${meant}?`]);
});

test.each(['FULLNODE_ADDRESS', 'FULLNODE_RPC', 'MARKET_HOST', 'MARKET_URL'])(
  '%s has a prefix of the gateway',
  (name) => {
    expect(unknown(name)).toEqual([`${name} is not a setting`]);
  },
);

test.each([
  'HISTORY_FILE',
  'MAX_FILE_SIZE',
  'MAX_CACHE_SIZE',
  'SYNC_TIMEOUT_MS',
  'UPSTREAMS',
  'LIBS+=x',
  'HISTORY*DB',
  'x(y',
])('%s may belong to another program', (name) => expect(unknown(name)).toEqual([]));

test('every setting is a known variable', () => {
  expect(unknown(...Object.values(SETTINGS).map(({ variable }) => variable))).toEqual([]);
});

test('a name of before stops the start, as variable, flag and option, and the problem has the new name', () => {
  expect(() => readConfig([], { ANSWER_CACHE_BYTES: '0' })).toThrow(
    /^ANSWER_CACHE_BYTES is not a setting any more: it is now RESPONSE_CACHE_BYTES$/,
  );
  expect(() => readConfig(['--answer-cache-bytes', '0'], {})).toThrow(
    /^--answer-cache-bytes is not a flag: did you mean --response-cache-bytes\?/,
  );
  expect(() => readOptions({ answerCacheBytes: 0 })).toThrow(
    /^answerCacheBytes is not an option: did you mean responseCacheBytes\?$/,
  );
  expect(readConfig([], { ANSWER_CACHE_BYTES: '' })).toMatchObject({ responseCacheBytes: 33_554_432 });
});

test('variables of other programs are ignored', () => {
  const others = ['PATH', 'HOME', 'PORTS', 'POST', 'HOSTNAME', 'NODE_ENV', 'NODE_OPTIONS', 'LOGNAME', 'MARKETPLACE'];
  // Kubernetes sets these for services with the names "fullnode" and "market".
  const links = ['FULLNODE_SERVICE_HOST', 'FULLNODE_PORT_9334_TCP_ADDR', 'FULLNODE_PORT', 'MARKET_SERVICE_PORT_HTTP'];
  // Of Compose, PostgreSQL, npm, Node, shells, CI and the SDK of OpenTelemetry.
  const more =
    `HOSTS HTTP_PORT SERVER_PORT PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE POSTGRES_USER POSTGRES_PASSWORD POSTGRES_DB
    REDIS_HOST REDIS_PORT REDIS_PASSWORD REDIS_USER REDIS_DB REDIS_PORT_6379_TCP REDIS_SERVICE_HOST KUBERNETES_PORT
    KUBERNETES_SERVICE_PORT_HTTPS GATEWAY_PORT npm_config_registry npm_package_version npm_lifecycle_event NODE_VERSION NODE_PATH
    NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED UV_THREADPOOL_SIZE LOG_DIR LOG_FORMAT HISTSIZE HISTFILE HISTCONTROL HISTORY
    SANDBOX_ID PUBLIC_IP PUBLIC_PATH MAX_AGE MAX_MEMORY MAX_WORKERS ACCESS_TOKEN ADMIN_USER ADMIN_PASSWORD TOKEN EXCHANGE
    FTP_PROXY ALL_PROXY SSL_CERT_FILE OTEL_TRACES_EXPORTER OTEL_METRICS_EXPORTER OTEL_LOGS_EXPORTER OTEL_PROPAGATORS
    OTEL_EXPORTER_OTLP_TIMEOUT OTEL_EXPORTER_OTLP_INSECURE OTEL_EXPORTER_OTLP_COMPRESSION OTEL_EXPORTER_OTLP_CERTIFICATE
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT OTEL_EXPORTER_OTLP_TRACES_INSECURE OTEL_EXPORTER_OTLP_METRICS_ENDPOINT OTEL_LOG_LEVEL
    OTEL_BSP_SCHEDULE_DELAY OTEL_NODE_RESOURCE_DETECTORS OTEL_METRIC_EXPORT_INTERVAL`.split(/\s+/);
  expect(unknown(...others, ...links, ...more)).toEqual([]);
});

test.each(['prodution', 'Production', 'prod', 'production '])('NODE_ENV=%s probably means production', (mode) => {
  expect(findUnknownVariables({ NODE_ENV: mode })).toEqual([
    `NODE_ENV is ${JSON.stringify(mode)}: did you mean production?`,
  ]);
});

test.each(['production', 'development', 'test', ''])('NODE_ENV=%s is no mistake', (mode) => {
  expect(findUnknownVariables({ NODE_ENV: mode })).toEqual([]);
});
