import { INTERVALS, RESOLUTIONS } from './candles.ts';
import { CHART_EXAMPLES } from './openapi-examples.ts';
import { CACHE_HEADERS, COMMON_HEADERS, ERRORS, ref, success } from './openapi-responses.ts';

const HEIGHT = { 'X-Pdex-Height': ref('headers', 'Height') };
const HEADERS = [ref('parameters', 'IfNoneMatch'), ref('parameters', 'MinHeight')];

const query = (name: string, description: string, schema: object, required = false) => ({
  name,
  in: 'query',
  required,
  description,
  schema,
});
const seconds = (name: string, description: string, required = false) =>
  query(name, `${description} In seconds since 1970-01-01T00:00:00Z.`, { type: 'integer' }, required);
const symbol = query('symbol', 'A ticker id or a pool id.', { type: 'string', minLength: 1 }, true);

/** Describes `/candles`. */
export function candlesOperation(maxCandles: number): object {
  const limit = { type: 'integer', minimum: 1, maximum: maxCandles, default: Math.min(100, maxCandles) };
  const found = success('The candles.', 'CandleList', CHART_EXAMPLES.candles, HEIGHT);
  const csv = { schema: { type: 'string', description: 'RFC 4180, with the fields of a candle as its header row.' } };
  return {
    operationId: 'getCandles',
    tags: ['market'],
    summary: 'Candles of a ticker',
    description:
      'Prices and volumes of the pool on the chain, from the recorded history: the last `limit` candles of the range, oldest first. Intervals without a known height are left out. Pairs of the same two tokens have the same candles.',
    parameters: [
      query('ticker_id', 'A ticker id, or a pool id if several pools have the ticker id.', { type: 'string' }, true),
      query('interval', 'Length of each candle. Intervals are aligned to UTC.', { enum: Object.keys(INTERVALS) }, true),
      seconds('from', 'The earliest `time`.'),
      seconds('to', 'Only candles whose `time` is before it. It must be after `from`.'),
      query('limit', 'Maximum number of candles.', limit),
      query('format', 'By default, the first of both types in `Accept`, else JSON.', { enum: ['json', 'csv'] }),
      ...HEADERS,
    ],
    responses: {
      200: { ...found, content: { ...found.content, 'text/csv': csv } },
      404: ref('responses', 'NotFound'),
      ...ERRORS,
    },
  };
}

function udf(name: string, description: string, parameters: readonly object[], response: object) {
  const responses = { 200: response, 404: ref('responses', 'NotFound'), ...ERRORS };
  const operationId = `udf${name}`;
  return { operationId, tags: ['udf'], description: `${description} ${UDF_ERRORS}`, parameters, responses };
}

const UDF_ERRORS = 'An error has `s: "error"` and `errmsg` in place of `message`.';

function fixed(description: string, type: string, headers: object = COMMON_HEADERS) {
  return { description, headers, content: { [type]: { schema: type === 'text/plain' ? {} : { type: 'object' } } } };
}

/** Describes the Universal Datafeed, by the last segments of the paths. */
export const UDF_OPERATIONS = {
  config: udf(
    'Config',
    'What the datafeed can do: intervals, search, time.',
    [],
    fixed('The configuration.', 'application/json', { ...CACHE_HEADERS, ...COMMON_HEADERS }),
  ),
  time: udf('Time', 'The clock of the gateway.', [], fixed('Whole Unix seconds.', 'text/plain')),
  symbols: udf(
    'Symbols',
    'One symbol.',
    [symbol, ...HEADERS],
    success('The symbol.', 'UdfSymbol', CHART_EXAMPLES.symbol, HEIGHT),
  ),
  search: udf(
    'Search',
    'Symbols that have bars, one for each pool of the chain.',
    [
      query('query', 'A part of the ticker id, in any case. By default, all.', { type: 'string' }),
      query('type', 'Only symbols of this type.', { type: 'string' }),
      query('exchange', 'Only symbols of this exchange.', { type: 'string' }),
      query('limit', 'Maximum number of symbols.', { type: 'integer', minimum: 1, maximum: 500, default: 30 }),
      ...HEADERS,
    ],
    success('The symbols.', 'UdfSymbols', CHART_EXAMPLES.symbols, HEIGHT),
  ),
  history: udf(
    'History',
    'The bars of a symbol, which are its candles.',
    [
      symbol,
      query('resolution', 'Length of each bar: minutes, or a day.', { enum: [...Object.keys(RESOLUTIONS), 'D'] }, true),
      seconds('from', 'The earliest bar. Ignored with `countback`.'),
      seconds('to', 'Only bars that begin before it.', true),
      query('countback', 'Number of bars before `to`. Above the limit, the newest are returned.', { type: 'integer' }),
      ...HEADERS,
    ],
    success('The bars.', 'UdfHistory', CHART_EXAMPLES.history, HEIGHT),
  ),
};
