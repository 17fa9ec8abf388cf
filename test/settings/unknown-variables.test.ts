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
  ['TRUSTED_PROXY', undefined],
  ['RATE_LIMIT_PER_SECONDS', 'RATE_LIMIT_PER_SECOND'],
  ['SANDOBX', 'SANDBOX'],
])('%s is near %s', (name, meant) => {
  expect(unknown(name)).toEqual(meant === undefined ? [] : [`${name} is not a setting: did you mean ${meant}?`]);
});

test.each(['FULLNODE_RPC', 'FULLNODE_ADDRESS', 'MARKET_URL', 'MARKET_HOST'])(
  '%s has a prefix of the gateway',
  (name) => {
    expect(unknown(name)).toEqual([`${name} is not a setting`]);
  },
);

test('every setting is a known variable', () => {
  expect(unknown(...Object.values(SETTINGS).map(({ variable }) => variable))).toEqual([]);
});

test('a name of before stops the start, as variable, flag and option, and the problem has the new name', () => {
  expect(() => readConfig([], { ANSWER_CACHE_BYTES: '0' })).toThrow(
    /^ANSWER_CACHE_BYTES is not a setting any more: it is now RESPONSE_CACHE_BYTES$/,
  );
  expect(() => readConfig(['--answer-cache-bytes', '0'], {})).toThrow(
    /^--answer-cache-bytes is not a flag: it is now --response-cache-bytes/,
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
  expect(unknown(...others, ...links)).toEqual([]);
});
