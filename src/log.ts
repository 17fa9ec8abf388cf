import pino, { type Logger } from 'pino';

import { GatewayError } from './errors.ts';
import type { LogLevel } from './setting-readers.ts';

/** The gateway's log. */
export type Log = Logger;

/** Makes a log that is readable where a person watches, and JSON where a machine does. */
export async function createLog(level: LogLevel): Promise<Log> {
  const options = { level, base: null };
  if (!process.stdout.isTTY) return pino(options);

  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ sync: true, ignore: 'pid,hostname' }));
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
