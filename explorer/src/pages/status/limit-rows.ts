import { formatBytes, formatInteger } from '../../format/numbers.ts';
import type { LimitsQuery } from './limits.generated.ts';

type Limits = LimitsQuery['service']['limits'];

/** A limit as a row of the table. */
type LimitRow = { readonly name: keyof Limits; readonly meaning: string; readonly value: string };

/** What each limit means, in the order of the table: first those of a request, then those of a client. */
const MEANINGS = {
  maxPageSize: 'Entries of one page',
  maxCandles: 'Candles of one chart',
  maxHistoryHours: 'Hours of a change or a sparkline',
  maxHeightsPerOperation: 'Earlier heights that one operation reads',
  maxResumedHeights: 'Missed heights that a subscription gets when it resumes',
  maxDepth: 'Nesting depth of selections',
  maxNesting: 'Nesting depth of selections and fragments',
  maxSiblings: 'Fields of one selection',
  maxComplexity: 'Complexity of an operation, in objects',
  maxValues: 'Values of one response',
  maxSchemaObjects: 'Schema objects that an introspection may return',
  maxTokens: 'Lexical tokens of a document',
  maxBodyBytes: 'Size of a request or a message',
  maxOperationsPerRequest: 'Operations of one HTTP request',
  maxConnectionsPerAddress: 'Open connections of one address',
  maxSubscriptionsPerConnection: 'Operations at once on one websocket',
  maxValuesPerConnection: 'Values of all operations of one websocket',
  rateLimitPerSecond: 'Points that an address gets per second',
  rateLimitBurst: 'Points that an address can save up',
} as const satisfies Record<Exclude<keyof Limits, '__typename'>, string>;

/** The limits of a gateway as rows. A limit that it does not have is "none". */
export function toLimitRows(limits: Limits): readonly LimitRow[] {
  return (Object.keys(MEANINGS) as (keyof typeof MEANINGS)[]).map((name) => ({
    name,
    meaning: MEANINGS[name],
    value: valueOfLimit(name, limits[name]),
  }));
}

function valueOfLimit(name: keyof Limits, value: number | string | null | undefined): string {
  if (typeof value !== 'number') return 'none';
  return name === 'maxBodyBytes' ? formatBytes(value) : formatInteger(value);
}
