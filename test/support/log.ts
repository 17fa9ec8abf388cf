import { Writable } from 'node:stream';
import pino from 'pino';
import type { Log } from '../../src/log.ts';

/** A line of the log, without its time. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: number; readonly msg: string };

/** Of pino's levels, those that a test looks for. */
export const INFO = 30;
export const WARN = 40;

/** A log of level `info` that keeps its lines. */
export function createKeptLog(): { readonly log: Log; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const stream = new Writable({
    write(text, _encoding, done) {
      const { time: _time, ...line } = JSON.parse(String(text));
      lines.push(line);
      done();
    },
  });
  return { lines, log: pino({ level: 'info', base: null }, stream) };
}
