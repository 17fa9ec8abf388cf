import pino, { type Logger, type LoggerOptions } from 'pino';

import { GatewayError } from '../errors.ts';
import { createLogOutput } from './output.ts';
import type { Redact } from './redact.ts';

/** The levels of the log, from the most lines to none. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The least severe level that is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The gateway's log. */
export type Log = Logger;

/** Creates the log: readable text on a terminal, otherwise a JSON object per line. */
export async function createLog(level: LogLevel, redact: Redact): Promise<Log> {
  const options = logOptions(level, redact);
  if (!process.stdout.isTTY) {
    const output = createLogOutput();
    process.on('exit', output.flushSync);
    return pino(options, output);
  }

  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ sync: true, ignore: 'pid,hostname' }));
}

/** Maximum length of a logged text that an upstream wrote, and of an example, which can be a complete row with its ids. */
const MAX_UPSTREAM_TEXT = 200;
const MAX_EXAMPLE = 1_000;

/** The options of the logger: no line contains a secret of the settings, whichever part of the gateway logs it. */
export function logOptions(level: LogLevel, redact: Redact): LoggerOptions {
  const shortenTo = (length: number) => (value: unknown) =>
    redact(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, length);
  const shorten = shortenTo(MAX_UPSTREAM_TEXT);
  return {
    level,
    base: null,
    serializers: { message: shorten, because: shorten, cause: shorten, example: shortenTo(MAX_EXAMPLE) },
    hooks: { streamWrite: (line) => redactLine(line, redact) },
  };
}

/**
 * Redacts the strings of a JSON line. Its keys and numbers come from the gateway and contain no secrets. Log collectors refuse
 * lines with half of a surrogate pair, which a shortened text can contain: U+FFFD replaces it.
 */
function redactLine(line: string, redact: Redact): string {
  const redacted = (_: string, value: unknown) => (typeof value === 'string' ? redact(value).toWellFormed() : value);
  return `${JSON.stringify(JSON.parse(line), redacted)}\n`;
}

/** Describes an error for the log: the code and the private details of a `GatewayError`, the stack of any other error. */
export function describeError(error: unknown): object {
  if (!(error instanceof GatewayError)) return { err: error };

  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return {
    code: error.code,
    retryable: error.retryable,
    error: error.message,
    ...error.details,
    ...(cause === undefined ? {} : { cause }),
  };
}
