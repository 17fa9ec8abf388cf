import { readFileSync } from 'node:fs';
import proxyAddr from 'proxy-addr';
import { parseTokens, type Token } from './domain/token.ts';

/** How much the log tells, from most to nothing. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** All of them. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** What GraphQL's Int can hold. */
export const MAX_INT32 = 2 ** 31 - 1;

/** What a timer of the runtime can count to. */
export const MAX_TIMER_MS = MAX_INT32;

/** Readings closer together than this would only load the upstreams. */
const MIN_INTERVAL_MS = 50;

/** Reads how often something is done, in milliseconds. @throws Error that says what was expected */
export function readInterval(text: string): number {
  return readWhole(text, MIN_INTERVAL_MS, MAX_TIMER_MS);
}

/** Reads a whole number within these bounds. @throws Error that says what was expected */
export function readWhole(text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max)
    throw new Error(`expected a whole number from ${min} to ${max}`);
  return number;
}

/** Reads a limit that is off where it is 0 or not set. @throws Error that says what was expected */
export function readOptionalLimit(text: string): number | undefined {
  return (text === '' ? 0 : readWhole(text, 0, MAX_INT32)) || undefined;
}

/** Reads the address of a proxy, or a range of such. @throws Error that says what was expected */
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

/** Reads an address over HTTP. @throws Error that says what was expected */
export function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error('expected a URL with http or https');
  return url;
}

/** Reads an address to listen on. @throws Error that says what was expected */
export function readHost(text: string): string {
  if (text === '') throw new Error('expected an address');
  return text;
}

/** Reads one segment of a path. @throws Error that says what was expected */
export function readSegment(text: string): string {
  if (!/^[\w.~-]+$/.test(text) || /^\.\.?$/.test(text))
    throw new Error('expected one segment of a path: letters, digits and - . _ ~');
  return text;
}

/** Reads true or false. @throws Error that says what was expected */
export function readBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new Error('expected true or false');
  return text === 'true';
}

/** Reads the origin of a page, or `*` for all. @throws Error that says what was expected */
export function readOrigin(text: string): string {
  if (text === '*') return text;
  const url = readUrl(text);
  if (url.origin !== text.toLowerCase()) throw new Error('expected origins, such as https://app.example, or *');
  return url.origin;
}

/** Reads how much the log tells. @throws Error that says what was expected */
export function readLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) throw new Error(`expected one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

/** Reads a tokens file. @throws Error with all that is wrong with it */
export function readTokensFile(path: string): Token[] {
  const read = parseTokens(readJsonFile(path));
  if ('problems' in read) throw new Error(read.problems.join('; '));
  return read.tokens;
}

function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(error instanceof SyntaxError ? 'the file is not JSON' : 'the file cannot be read', {
      cause: error,
    });
  }
}
