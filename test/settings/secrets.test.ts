import { describe, expect, test } from 'vitest';
import { redactorOf, type SecretSettings } from '../../src/settings/secrets.ts';

const NONE: SecretSettings = {
  httpProxy: undefined,
  httpsProxy: undefined,
  fullnodeUrl: [],
  fullnodeWsUrl: [],
  tokensUrl: undefined,
  fullnodeHeaders: {},
  marketDataUrl: undefined,
  marketDataHeaders: {},
  otelExporterOtlpEndpoint: undefined,
  otelExporterOtlpHeaders: {},
  historyDatabase: undefined,
  redisUrl: [],
};

function withUrl(url: string) {
  return redactorOf({ ...NONE, fullnodeUrl: [new URL('http://other'), new URL(url)] });
}

function withHeader(value: string) {
  return redactorOf({ ...NONE, fullnodeHeaders: { 'x-any': value } });
}

const base64 = (text: string, encoding: BufferEncoding = 'base64') => Buffer.from(text).toString(encoding);

describe('secrets of a URL', () => {
  test.each([
    [
      'http://someone:s3cret@host',
      ['someone', 's3cret', base64('someone:s3cret'), base64('someone:s3cret', 'base64url')],
    ],
    [
      'http://some%40one:s%3Acr%C3%A9t@host',
      ['some@one', 's:cr\u00e9t', 's%3acr%c3%a9t', base64('some@one:s:cr\u00e9t')],
    ],
    ['http://:s3cret@host', ['s3cret', base64(':s3cret')]],
    ['http://a:b@host', ['a:b', base64('a:b')]],
    ['http://x:100%@host', ['100%', '100%25', base64('x:100%')]],
    ['http://host/v3/0123456789abcdef', ['0123456789abcdef', '/v3/0123456789ABCDEF']],
    ['http://host/rpc/abcd-efgh', ['/abcd-efgh', '%2Fabcd-efgh']],
    ['http://host/correcthorsebattery', ['correcthorsebattery']],
    ['http://host/?key=0123-4567&x=a%20b%26c', ['0123-4567', 'a b&c', 'a+b%26c', 'a b\\u0026c']],
    ['http://host/?0123-4567', ['0123-4567']],
    ['http://host/?k=ab', ['k=ab']],
    ['http://host/?k=abc', ['abc']],
    ['http://host/#0123-4567', ['0123-4567']],
  ])('%s', (url, secrets) => {
    const redact = withUrl(url);
    for (const secret of secrets) expect(redact(`(${secret})`)).not.toContain(secret);
    const { href } = new URL(url);
    expect(redact(`see ${href}`)).toMatch(/^see http:\/\/[^ ]*host\/[^ ]*$/);
    const market = redactorOf({ ...NONE, marketDataUrl: new URL(url) });
    for (const secret of secrets) expect(market(`(${secret})`)).not.toContain(secret);
  });

  test.each([
    'http://127.0.0.1:9334/',
    'https://host/api/v1/public/market-data/pairs',
    'http://host/rpc/v2',
    'http://host/exchange',
  ])('are not common words of logs: %s', (url) => {
    const line =
      'cannot read 127.0.0.1:9334: expected an array at $.Result, exchange api rpc v1 v2 public market-data pairs';
    expect(withUrl(url)(line)).toBe(line);
  });
});

describe('secrets of a header', () => {
  test.each([
    ['0123abcd', ['0123abcd']],
    ['Bearer abcde', ['Bearer abcde', 'abcde']],
    ['Bearer abc.def-ghi_jkl', ['abc.def-ghi_jkl']],
    [`Basic ${base64('someone:s3cret word')}`, [base64('someone:s3cret word'), 's3cret word', 'someone']],
    ['session=0123; token=abcdef', ['0123', 'abcdef']],
    ['caf\u00e9-key', ['caf\u00e9-key', 'caf%C3%A9-key']],
  ])('%s', (value, secrets) => {
    for (const redact of [withHeader(value), redactorOf({ ...NONE, marketDataHeaders: { a: value } })])
      for (const secret of secrets) expect(redact(`(${secret})`)).not.toContain(secret);
  });

  test('are not the scheme of the authentication', () => {
    const text = 'Authorization: Bearer or basic';
    expect(withHeader('Bearer 0123')(text)).toBe(text);
  });
});
