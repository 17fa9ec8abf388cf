import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import { percentDecoded } from '../domain/percent-encoding.ts';
import { parseTokenId, type TokenId } from '../domain/token.ts';
import { parseOrigin } from '../server/clients/origins.ts';

/** The maximum of GraphQL's Int, and of a timer of Node in milliseconds. */
export const MAX_INT32 = 2 ** 31 - 1;

/** Minimum of intervals. Shorter ones would only load the upstreams. */
export const MIN_INTERVAL_MS = 50;

/** Reads values separated by commas; none if the text is empty. @throws Error of `read` */
export function readList<Value>(text: string, read: (text: string) => Value): readonly Value[] {
  return text === '' ? [] : text.split(',').map((part) => read(part.trim()));
}

/** Reads the address of a proxy, or a range of addresses. @throws Error that says what was expected */
export function readProxy(text: string): string {
  try {
    proxyAddr.compile(text);
    return text;
  } catch (error) {
    throw new Error('expected addresses or ranges, such as 10.0.0.0/8, or loopback, linklocal, uniquelocal', {
      cause: error,
    });
  }
}

/** Reads an address to listen on, or a host name. @throws Error that says what was expected */
export function readHost(text: string): string {
  return isIP(text) > 0 ? text : readMatching(text, /^[\p{L}\p{N}._-]+$/u, 'an address or a host name, without a port');
}

/** Reads a URL with http or https. @throws Error that says what was expected */
export function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error('expected a URL with http or https');
  return url;
}

/**
 * Reads URLs separated by commas; none if the text is empty.
 *
 * @throws Error that says which URL is wrong and what was expected, without its text
 */
export function readUrls(text: string): readonly URL[] {
  return readEach('URL', text, readUrl);
}

/** Reads URLs of websockets like {@link readUrls}. An empty part stands for none. */
export function readWebSocketUrls(text: string): readonly (URL | undefined)[] {
  return readEach('URL', text, (part, index, parts) => {
    if (part === '') return undefined;
    const url = URL.parse(part);
    if (url === null || !['ws:', 'wss:'].includes(url.protocol)) throw new Error('expected a URL with ws or wss');
    if (parts.indexOf(part) < index) throw new Error('expected another one: each node has one websocket');
    return url;
  });
}

/** Of Redis itself, of a node of its cluster, or of a Sentinel; with `rediss` over TLS. */
const REDIS_PROTOCOL = /^rediss?(\+cluster|\+sentinel)?:$/;

/** That the Sentinels need the user and the password too. */
const SENTINEL_PARAMETERS = /^(\?sentinel-auth(=|=true)?)?$/;

/** Reads URLs of Redis like {@link readUrls}. */
export function readRedisUrls(text: string): readonly URL[] {
  return readEach('URL', text, (part, _index, parts) => {
    const [first = ''] = parts;
    const url = URL.parse(part);
    if (url === null || !REDIS_PROTOCOL.test(url.protocol) || url.hostname === '')
      throw new Error('expected a URL with redis or rediss, or one with +cluster or +sentinel appended to that');
    if (url.protocol !== URL.parse(first)?.protocol)
      throw new Error('expected the same scheme as that of the first URL');
    const isSentinel = url.protocol.endsWith('+sentinel:');
    const isCluster = !isSentinel && (parts.length > 1 || url.protocol.endsWith('+cluster:'));
    if (isSentinel && !/^\/[^/]+(\/\d+)?$/.test(url.pathname))
      throw new Error('expected the name of the primary as the path, such as redis+sentinel://host:26379/mymaster');
    if (!isSentinel && !/^(\/\d*)?$/.test(url.pathname))
      throw new Error('expected no path, or the number of a database');
    if (isCluster && Number(url.pathname.slice(1)) > 0)
      throw new Error('expected no number of a database: a cluster has one database');
    if (url.hash !== '' || !(isSentinel ? SENTINEL_PARAMETERS : /^$/).test(url.search))
      throw new Error(`expected no parameters${isSentinel ? ' but sentinel-auth, without a value' : ''}`);
    if (/%(?![\da-f]{2})/i.test(url.username + url.password + url.pathname))
      throw new Error('expected % only before two hexadecimal digits');
    return url;
  });
}

/** Reads values separated by commas. An error of `read` says which of several values it is about. */
function readEach<Value>(
  kind: 'URL' | 'origin',
  text: string,
  read: (part: string, index: number, parts: readonly string[]) => Value,
): readonly Value[] {
  const parts = readList(text, (part) => part);
  return parts.map((part, index) => {
    try {
      return read(part, index, parts);
    } catch (error) {
      const { message } = error as Error;
      const empty = part === '' ? ', which is empty' : '';
      throw parts.length === 1 ? error : new Error(`${kind} ${index + 1} of ${parts.length}${empty}: ${message}`);
    }
  });
}

/** Reads a text that matches a pattern. @throws Error that says what was expected */
export function readMatching(text: string, pattern: RegExp, expected: string): string {
  if (!pattern.test(text)) throw new Error(`expected ${expected}`);
  return text;
}

/** HTTP headers by their names in lower case. */
export type HttpHeaders = Readonly<Record<string, string>>;

/** Headers that the gateway sets itself, or that belong to one connection. */
const RESERVED_HEADERS: readonly string[] = [
  ...['host', 'accept', 'accept-encoding', 'content-type', 'content-length', 'content-encoding', 'expect'],
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
];

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/**
 * Reads HTTP headers, a `name: value` line each. The two characters `\n` separate lines too, because some readers of
 * environment files do not unescape them.
 *
 * @throws Error that says what was expected on which line, without any of its text
 */
export function readHeaders(text: string): HttpHeaders {
  const headers = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n|\\n/).entries()) {
    if (line.trim() === '') continue;
    const fail = (problem: string) => new Error(`line ${index + 1}: ${problem}`);
    const [, name = '', value = ''] = /^\s*([^:]*):\s*(.*?)\s*$/.exec(line) ?? [];
    if (!HEADER_NAME.test(name)) throw fail('expected `name: value`');
    if (value === '') throw fail('the header has no value');
    if (!HEADER_VALUE.test(value)) throw fail('the value has characters that HTTP does not allow');
    const key = name.toLowerCase();
    if (RESERVED_HEADERS.includes(key)) throw fail(`\`${key}\` cannot be set`);
    if (headers.has(key)) throw fail('the header is set twice');
    headers.set(key, value);
  }
  return Object.fromEntries(headers);
}

/**
 * Reads `name=value` pairs separated by commas, with percent-encoded values, as the variables of OpenTelemetry have them.
 *
 * @throws Error that says which pair is wrong, without any of its text
 */
export function readPairs(text: string): Readonly<Record<string, string>> {
  const pairs = readList(text, (pair) => pair).filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair, index) => {
      const [, name, value] = /^([^=\s]+)\s*=\s*(.*)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined) throw new Error(`pair ${index + 1}: expected name=value`);
      return [name, percentDecoded(value)];
    }),
  );
}

/** Reads HTTP headers as `name=value` pairs. @throws Error that says what is wrong, without any of the text */
export function readHeaderPairs(text: string): HttpHeaders {
  const headers = Object.entries(readPairs(text)).map(([name, value]) => [name.toLowerCase(), value] as const);
  for (const [index, [name, value]] of headers.entries()) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value))
      throw new Error(`pair ${index + 1}: HTTP has no such header`);
    if (RESERVED_HEADERS.includes(name)) throw new Error(`pair ${index + 1}: \`${name}\` cannot be set`);
  }
  return Object.fromEntries(headers);
}

/** Reads a number from 0 to 1. @throws Error that says what was expected */
export function readShare(text: string): number {
  const share = text.trim() === '' ? Number.NaN : Number(text);
  if (!(share >= 0 && share <= 1)) throw new Error('expected a number from 0 to 1');
  return share;
}

/** Origins of these schemes are `null`, or no page has them. */
const NO_PAGE = /^(about|blob|data|ftp|javascript|wss?):/i;

/**
 * Reads origins of pages and apps, or `*` for all, separated by commas. A host name can begin with `*.`.
 *
 * @throws Error that says which one no page can have, and what was expected
 */
export function readOrigins(text: string): readonly string[] {
  return readEach('origin', text, (part) => {
    const origin = part === '*' ? part : parseOrigin(part);
    if (origin === undefined || NO_PAGE.test(origin) || !/^([^*]+(:\/\/\*\.[^*]+)?|\*)$/.test(origin))
      throw new Error(
        'expected the origin of a page, such as https://app.example or https://*.app.example, null, or *',
      );
    return origin;
  });
}

/** Reads the id of a token. @throws Error that says what was expected */
export function readTokenId(text: string): TokenId {
  const tokenId = parseTokenId(text);
  if (tokenId === undefined) throw new Error('expected token ids: 64 lowercase hexadecimal characters each');
  return tokenId;
}
