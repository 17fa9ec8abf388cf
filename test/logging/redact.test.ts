import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor, redactUrls, type Secret } from '../../src/logging/redact.ts';

const redactorOf = (...texts: string[]) => createRedactor(texts.map((text) => ({ text })));

/** The ways in which a host may write a text. */
const FORMS: readonly (readonly [name: string, write: (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded in lower case', (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase())],
  ['percent-encoded wholly', (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&')],
  ['percent-encoded twice', (text) => encodeURIComponent(encodeURIComponent(text))],
  ['percent-encoded four times', (text) => [1, 2, 3, 4].reduce(encodeURIComponent, text)],
  ['as a form has it', (text) => new URLSearchParams([['', text]]).toString().slice(1)],
  ['in JSON', inJson],
  ['in JSON in JSON', (text) => inJson(inJson(text))],
  ['in the JSON of Go', (text) => text.replace(/[&<>]|[^\x20-\x7e]/g, unicodeEscape)],
  ['in the JSON of Go, in JSON in JSON', (text) => inJson(inJson(text.replace(/[&<>]|[^\x20-\x7e]/g, unicodeEscape)))],
  ['in the JSON of PHP', (text) => inJson(text).replaceAll('/', '\\/')],
  ['in HTML', inHtml],
  ['in HTML with numbers', (text) => text.replace(/[^A-Za-z0-9]/gu, (character) => `&#${character.codePointAt(0)};`)],
  ['in HTML in HTML in HTML', (text) => inHtml(inHtml(inHtml(text)))],
  ['percent-encoded, in JSON', (text) => inJson(encodeURI(text))],
];

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function inHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unicodeEscape(text: string): string {
  return [...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
}

describe.each(FORMS)('a secret %s', (_, write) => {
  test.each([
    '0123456789abcdef',
    'p@ss:w/rd&"x"<y>',
    'caf\u00e9-\u{1f511}-100%',
    'back\\slash+plus space',
    "it's",
    '%2F%2f',
    'p@ss:w/rd&"x"<y>'.repeat(4),
  ])('is replaced: %j', (secret) => {
    const text = `<no key ${write(secret)}?>`;
    expect(redactorOf(secret)(text)).toBe('<no key [redacted]?>');
  });

  test('is replaced, whichever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', minLength: 3, maxLength: 60 }), (secret) => {
        expect(redactorOf(secret)(`"${write(secret)}"`)).not.toContain(write(secret));
      }),
    );
  });
});

describe('a secret', () => {
  test('is replaced in every place, and in upper case', () => {
    expect(redactorOf('abcdefgh')('abcdefgh xABCDEFGHx')).toBe('[redacted] x[redacted]x');
  });

  test('is replaced whole where another is a part of it', () => {
    expect(redactorOf('abcdefgh', 'xx-abcdefgh-yy', 'abc')('xx-abcdefgh-yy abcdefgh abc')).toBe(
      '[redacted] [redacted] [redacted]',
    );
  });

  test('is replaced where a very long one was cut off', () => {
    const token = Buffer.from('a token that is long'.repeat(50)).toString('base64');
    const redact = redactorOf(token);
    for (const length of [40, 100, 1_000, token.length])
      expect(redact(`key ${token.slice(0, length)}`)).toBe('key [redacted]');
    expect(redact(`key ${token} of someone`)).toBe('key [redacted] of someone');
  });

  test.each(FORMS)('is left out where the text was cut off, %s', (_, write) => {
    const secret = 'p@ss:w/rd&"x"<y>'.repeat(2);
    const redact = redactorOf(secret, 'another secret');
    const whole = `another secret ${'.'.repeat(400)} ${write(secret)}`;
    for (let length = whole.length; length > 415; length--) {
      const redacted = redact(whole.slice(0, length), { isCut: true });
      expect(redacted).toMatch(/^\[redacted\] \.+ ?(\[redacted\])?$/);
    }
  });

  test('is replaced where UTF-8 was read as Latin-1, and the other way round', () => {
    const redact = redactorOf('caf\u00e9 au lait');
    const read = (from: BufferEncoding, to: BufferEncoding) => Buffer.from('caf\u00e9 au lait', from).toString(to);
    expect([redact(read('utf8', 'latin1')), redact(read('latin1', 'utf8'))]).toEqual(['[redacted]', '[redacted]']);
  });
});

describe('a short secret', () => {
  test.each([
    ['the key k3y is wrong', 'the key [redacted] is wrong'],
    ['K3Y', '[redacted]'],
    ['monk3ys', 'monk3ys'],
    ['/a%2Fk3y?b', '/a%2F[redacted]?b'],
    ['a\\nk3y', 'a\\n[redacted]'],
    ['a\\u0026k3y', 'a\\u0026[redacted]'],
    ['{"k3y":"k3y"}', '{"[redacted]":"[redacted]"}'],
  ])('is replaced as a word: %s', (text, redacted) => {
    expect(redactorOf('k3y')(text)).toBe(redacted);
  });

  test('of letters alone is replaced as it is written', () => {
    expect(redactorOf('node')('NODE Node node nodes')).toBe('NODE Node [redacted] nodes');
  });

  test('of one or two characters is left, and so is an empty one', () => {
    expect(redactorOf('a', '', 'v1')('/v1/a')).toBe('/v1/a');
  });
});

test('a segment that may be a word is replaced behind a slash alone', () => {
  const secrets: Secret[] = [{ text: 'exchange', isWordOfPath: true }];
  expect(
    createRedactor(secrets)('the exchange at /exchange/a, %2Fexchange, \\/Exchange, \\u002fexchange and /exchanges'),
  ).toBe('the exchange at /[redacted]/a, %2F[redacted], \\/[redacted], \\u002f[redacted] and /exchanges');
  // There, it is the beginning of a host name.
  expect(createRedactor(secrets)('https://exchange.example/exchange')).toBe('https://exchange.example/[redacted]');
});

test('a text full of beginnings of escapes takes no longer than any other', () => {
  const redact = redactorOf('%%%%%%%%%%', '\\\\\\\\\\\\\\\\/"', '&&&&&&&&&&<');
  for (const part of ['%25', '\\', '&amp;', '%', '&#0000']) {
    const before = process.threadCpuUsage();
    redact(part.repeat(20_000));
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(1_000);
  }
});

test.each([
  ['http://host:1/', 'http://host:1/'],
  ['https://host', 'https://host'],
  ['https://host/path', 'https://host/[redacted]'],
  ['https://host?key=value', 'https://host/[redacted]'],
  ['https://host/#part', 'https://host/[redacted]'],
  ['http://name:word@host', 'http://[redacted]'],
  ['http://name:w/rd@host/path', 'http://[redacted]'],
  ['name:word@host', '[redacted]@host'],
  ['ftp://a/b, ws://c/d', 'ftp://a/[redacted] ws://c/[redacted]'],
  ['https://a.example,https://b.example:1/,capacitor://c', 'https://a.example,https://b.example:1/,capacitor://c'],
  ['https://a/b,c,https://d', 'https://a/[redacted],https://d'],
  ['loud', 'loud'],
])('of a URL in the place of another setting, its scheme and host are shown: %s', (text, shown) => {
  expect(redactUrls(text)).toBe(shown);
});
