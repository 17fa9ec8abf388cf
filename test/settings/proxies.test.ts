import { expect, onTestFinished, test } from 'vitest';
import { ConfigError } from '../../src/settings/kinds.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { readOptions } from '../../src/settings/read-options.ts';
import { redactorOf } from '../../src/settings/secrets.ts';
import type { Config } from '../../src/settings/settings.ts';
import { findUnknownVariables } from '../../src/settings/unknown-variables.ts';

function proxiesOf({ httpProxy, httpsProxy, noProxy }: Config) {
  return [httpProxy?.href, httpsProxy?.href, noProxy.join()];
}

const read = (env: Record<string, string>, args: readonly string[] = []) => proxiesOf(readConfig(args, env) as Config);

const VARIABLES = { HTTP_PROXY: 'http://one', HTTPS_PROXY: 'https://two', NO_PROXY: 'localhost, .example' };
const VALUES = ['http://one/', 'https://two/', 'localhost,.example'];
const NONE = [undefined, undefined, ''];

// "Built-in Proxy Support" in Node's documentation of `node:http`
test('the variables of proxies are read if Node is told to use them', () => {
  expect(read({ ...VARIABLES, NODE_USE_ENV_PROXY: '1' })).toEqual(VALUES);
  expect(read({ ...VARIABLES, NODE_OPTIONS: '--no-warnings --use-env-proxy' })).toEqual(VALUES);
  process.execArgv.push('--use-env-proxy');
  onTestFinished(() => void process.execArgv.pop());
  expect(read(VARIABLES)).toEqual(VALUES);
});

test.each([undefined, '', '0', 'true'])('they are not read with NODE_USE_ENV_PROXY=%s, whatever they are', (use) => {
  const env = { ...VARIABLES, HTTPS_PROXY: 'no URL', ...(use !== undefined && { NODE_USE_ENV_PROXY: use }) };
  expect(read(env)).toEqual(NONE);
});

test('of two spellings, the one in lower case is read, unless it is empty', () => {
  const lower = { http_proxy: 'http://lower', https_proxy: '', no_proxy: '*', NODE_USE_ENV_PROXY: '1' };
  expect(read({ ...VARIABLES, ...lower })).toEqual(['http://lower/', 'https://two/', '*']);
});

test('flags and options need no variable', () => {
  expect(read({}, ['--http-proxy=http://one', '--no-proxy=localhost'])).toEqual([
    'http://one/',
    undefined,
    'localhost',
  ]);
  expect(proxiesOf(readOptions({ httpsProxy: 'http://one', noProxy: ['localhost', '::1'] }))).toEqual([
    undefined,
    'http://one/',
    'localhost,::1',
  ]);
});

test('a wrong proxy is named as it is spelt, without its text', () => {
  const env = {
    http_proxy: 'user:s3cr3t@proxy:3128',
    HTTPS_PROXY: 'socks5://user:s3cr3t@proxy',
    NODE_USE_ENV_PROXY: '1',
  };
  const expected = '(not shown, it may contain a secret): expected a URL with http or https';
  expect(() => readConfig([], env)).toThrow(new ConfigError([`http_proxy ${expected}`, `HTTPS_PROXY ${expected}`]));
});

test('the user and password of a proxy are secrets', () => {
  const config = readConfig(['--http-proxy=http://someone:s3cr3t@proxy'], {}) as Config;
  const sent = Buffer.from('someone:s3cr3t').toString('base64');
  expect(redactorOf(config)(`s3cr3t of someone at proxy: ${sent}`)).toBe(
    '[redacted] of [redacted] at proxy: [redacted]=',
  );
});

test('variables of other proxies are not misspelt', () => {
  const others = [
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'FTP_PROXY',
    'ftp_proxy',
    'ALL_PROXY',
    'GOPROXY',
    'WS_PROXY',
  ];
  expect(findUnknownVariables(Object.fromEntries(others.map((name) => [name, 'x'])))).toEqual([]);
});
