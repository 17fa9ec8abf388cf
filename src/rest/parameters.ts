import Negotiator from 'negotiator';
import type { CandleInterval } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { BadUserInputError } from '../errors.ts';
import { DEFAULT_CANDLES } from '../loaders/candles.ts';

/**
 * Reads the parameters of `/orderbook`. Parameters with other names are ignored, as listing sites add their own.
 *
 * @throws BadUserInputError that names the parameter
 */
export function readOrderBookParameters(parameters: URLSearchParams) {
  const tickerId = readRequired(parameters, 'ticker_id');
  const [depth, uncrossed] = [readSingle(parameters, 'depth'), readSingle(parameters, 'uncrossed')];
  return { tickerId, depth: readDepth(depth), isUncrossed: readOneOf(FLAGS, 'uncrossed', uncrossed ?? 'false') };
}

/** Without the parameter, the book is complete: another gateway that reads from this one then has all of it. */
function readDepth(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new BadUserInputError(
    `depth is ${JSON.stringify(text)}. It must be 0 (the complete book) or a whole number of entries, both sides together.`,
  );
}

const FLAGS = { true: true, false: false };

/** The names of the intervals of candles in the REST API. */
export const INTERVALS = {
  '1m': 'ONE_MINUTE',
  '5m': 'FIVE_MINUTES',
  '15m': 'FIFTEEN_MINUTES',
  '1h': 'ONE_HOUR',
  '4h': 'FOUR_HOURS',
  '1d': 'ONE_DAY',
} as const satisfies Record<string, CandleInterval>;

/** The names of the same intervals in the Universal Datafeed. The chart also sends `D` for `1D`. */
export const RESOLUTIONS = {
  1: 'ONE_MINUTE',
  5: 'FIVE_MINUTES',
  15: 'FIFTEEN_MINUTES',
  60: 'ONE_HOUR',
  240: 'FOUR_HOURS',
  '1D': 'ONE_DAY',
} as const satisfies Record<string, CandleInterval>;

/** Seconds up to the year 5138: a number of milliseconds is refused. */
const SECONDS = /^\d{1,11}$/;

/** Symbols that a search returns if `limit` is not set. */
export const DEFAULT_SYMBOLS = 30;

/** The maximum number of symbols that a search returns. */
export const MAX_SYMBOLS = 500;

/** The largest `countback`. A response has fewer bars. */
export const MAX_COUNTBACK = 999_999_999;

/**
 * Reads the parameters of `/candles`.
 *
 * @param accept the header `Accept`, which decides about the format if `format` is not set
 * @throws BadUserInputError that names the parameter
 */
export function readCandlesParameters(parameters: URLSearchParams, accept: string | undefined, maxCandles: number) {
  const symbol = readRequired(parameters, 'ticker_id');
  const intervalName = readRequired(parameters, 'interval');
  const interval = readOneOf(INTERVALS, 'interval', intervalName);
  const [from, to] = [readSeconds(parameters, 'from'), readSeconds(parameters, 'to')];
  if (from !== undefined && to !== undefined && from >= to) throw new BadUserInputError('from is not before to.');
  const last = readCount(parameters, 'limit', maxCandles) ?? Math.min(DEFAULT_CANDLES, maxCandles);
  const accepted = new Negotiator({ headers: { accept } }).mediaType(['application/json; charset=utf-8', CSV_TYPE]);
  const format = readSingle(parameters, 'format');
  const isCsv = format === undefined ? accepted === CSV_TYPE : readOneOf(FORMATS, 'format', format);
  return { symbol, interval, intervalName, from, to, last, isCsv };
}

const FORMATS = { json: false, csv: true };

/** The media type of candles as CSV. */
export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** Trades of a document if `limit` is not set. */
export const DEFAULT_TRADES = 100;

/** The maximum number of trades in a document. */
export const MAX_TRADES = 500;

/** Milliseconds up to the year 5138. Numbers of 9 to 11 digits are refused, because they are probably seconds. */
const MILLISECONDS = /^(\d{1,8}|\d{12,14})$/;

/** Reads the parameters of `/historical_trades`. @throws BadUserInputError that names the parameter */
export function readTradesParameters(parameters: URLSearchParams) {
  const symbol = readRequired(parameters, 'ticker_id');
  const poolId = readSingle(parameters, 'pool_id');
  // 0 means as many as possible.
  const last = (readCount(parameters, 'limit', MAX_TRADES, 0) ?? DEFAULT_TRADES) || MAX_TRADES;
  const [from, to] = ['start_time', 'end_time'].map((name) =>
    readTime(parameters, name, MILLISECONDS, 'milliseconds, not seconds,'),
  );
  if (from !== undefined && to !== undefined && from >= to)
    throw new BadUserInputError('start_time is not before end_time.');
  const type = readSingle(parameters, 'type');
  return { symbol, poolId, last, from, to, type: type === undefined ? type : readOneOf(TYPES, 'type', type) };
}

const TYPES = { buy: 'buy', sell: 'sell' } as const;

/**
 * Reads the parameters of `/udf/history`. A chart requests more bars than it needs: the newest ones that are allowed are enough.
 *
 * @throws BadUserInputError that names the parameter
 */
export function readHistoryParameters(parameters: URLSearchParams, maxCandles: number) {
  const symbol = readRequired(parameters, 'symbol');
  const resolution = readRequired(parameters, 'resolution');
  const interval = readOneOf(RESOLUTIONS, 'resolution', resolution === 'D' ? '1D' : resolution);
  const to = readSeconds(parameters, 'to');
  const countback = readCount(parameters, 'countback', MAX_COUNTBACK);
  // A chart that scrolls back before 1970 sends negative numbers.
  const from = /^-\d{1,11}$/.test(readSingle(parameters, 'from') ?? '') ? 0 : readSeconds(parameters, 'from');
  if (to === undefined) throw new BadUserInputError('to is missing.');
  if (from === undefined && countback === undefined) throw new BadUserInputError('from and countback are missing.');
  if (from !== undefined && from > to) throw new BadUserInputError('from is after to.');
  const range = { symbol, interval, to };
  if (countback !== undefined) return { ...range, from: undefined, last: Math.min(countback, maxCandles) };
  return { ...range, from, last: maxCandles };
}

/** Which candles a client requests: the last ones whose time is at or after `from` and before `to`. */
export type CandlesRequest = ReturnType<typeof readHistoryParameters | typeof readCandlesParameters>;

/** Reads the parameters of `/udf/symbols`. @throws BadUserInputError that names the parameter */
export function readSymbolParameter(parameters: URLSearchParams): string {
  return readRequired(parameters, 'symbol');
}

/** Reads the parameters of `/udf/search`. @throws BadUserInputError that names the parameter */
export function readSearchParameters(parameters: URLSearchParams) {
  const [query = '', type = '', exchange = ''] = ['query', 'type', 'exchange'].map((name) =>
    readSingle(parameters, name),
  );
  return { query, type, exchange, limit: readCount(parameters, 'limit', MAX_SYMBOLS) ?? DEFAULT_SYMBOLS };
}

function readOneOf<Value>(values: Readonly<Record<string, Value>>, name: string, text: string): Value {
  if (Object.hasOwn(values, text)) return values[text] as Value;
  throw new BadUserInputError(
    `${name} is ${JSON.stringify(text)}. It must be one of ${Object.keys(values).join(', ')}.`,
  );
}

function readSeconds(parameters: URLSearchParams, name: string): Instant | undefined {
  const seconds = readTime(parameters, name, SECONDS, 'seconds');
  return seconds && seconds * 1_000;
}

function readTime(parameters: URLSearchParams, name: string, form: RegExp, unit: string): number | undefined {
  const text = readSingle(parameters, name);
  if (text === undefined) return undefined;
  if (form.test(text)) return Number(text);
  throw new BadUserInputError(
    `${name} is ${JSON.stringify(text)}. It must be whole ${unit} since 1970-01-01T00:00:00Z.`,
  );
}

function readCount(parameters: URLSearchParams, name: string, max: number, min = 1): number | undefined {
  const text = readSingle(parameters, name);
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  throw new BadUserInputError(`${name} is ${JSON.stringify(text)}. It must be a whole number from ${min} to ${max}.`);
}

function readRequired(parameters: URLSearchParams, name: string): string {
  const text = readSingle(parameters, name);
  if (text) return text;
  throw new BadUserInputError(`${name} is missing.${name === 'ticker_id' ? ' Choose one of /tickers.' : ''}`);
}

function readSingle(parameters: URLSearchParams, name: string): string | undefined {
  const [text, ...others] = parameters.getAll(name);
  if (others.length > 0) throw new BadUserInputError(`${name} is set more than once.`);
  return text;
}
