import { Writable } from 'node:stream';
import pino from 'pino';
import { type Log, type LogLevel, logOptions } from '../../src/logging/log.ts';
import type { Redact } from '../../src/logging/redact.ts';

/** A line of the log, without its time. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: number; readonly msg: string };

/** Of pino's levels, those that a test looks for. */
export const INFO = 30;
export const WARN = 40;
export const ERROR = 50;

/** A log that keeps its lines. */
export function createKeptLog(
  redact: Redact = (text) => text,
  level: LogLevel = 'info',
): { readonly log: Log; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const stream = new Writable({
    write(text, _encoding, done) {
      const { time: _time, ...line } = JSON.parse(String(text));
      lines.push(line);
      done();
    },
  });
  return { lines, log: pino(logOptions(level, redact), stream) };
}
