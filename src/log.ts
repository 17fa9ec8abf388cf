import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';

import { GatewayError } from './errors.ts';
import type { LogLevel } from './setting-readers.ts';

/** The gateway's log. */
export type Log = Logger;

/** Makes a log that is readable where a person watches, and JSON where a machine does. */
export function createLog(level: LogLevel): Log {
  const options = { level, base: null };
  return process.stdout.isTTY ? pino(options, pretty({ sync: true, ignore: 'pid,hostname' })) : pino(options);
}

/** An error as the log tells it: of ours, its code and the details that no client sees; of any other, its stack. */
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
