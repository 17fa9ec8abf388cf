import type { Arguments } from './arguments.ts';
import type { Judge } from './judge.ts';

/** A run of a minute checks many thousands of responses. */
const MIN_CHECKED = 100;

/** A kind that was requested so often has also been compared: faults do not last so long. */
const MANY_REQUESTS = 30;

/** In V3, the volume of a candle is exact if the trades of all its blocks are known. Each longer run has such candles. */
const EXACT_CANDLES = 'candles with exact volumes';
const MINUTES_WITH_EXACT_CANDLES = 5;

/** A shorter run passes with whatever it has checked. */
export const REQUIRED_FROM_MINUTES = 1;

/** The kinds of responses and updates of which none was compared with what is expected, with their numbers. */
export function neverCompared({ counts: { requests, updates, compared } }: Judge): ReadonlyMap<string, number> {
  return new Map([...requests, ...updates].filter(([kind]) => !compared.has(kind)));
}

/** Reports what a run of a minute or more has not checked, so that it cannot pass with nothing checked. */
export function requireChecks(
  judge: Judge,
  { minutes, exchange, replicas }: Pick<Arguments, 'minutes' | 'exchange' | 'replicas'>,
): void {
  if (minutes < REQUIRED_FROM_MINUTES) return;
  if (judge.checked() < MIN_CHECKED) judge.fail(`too little was checked: ${judge.checked()} responses and updates`);
  for (const [kind, count] of neverCompared(judge))
    if (count >= MANY_REQUESTS) judge.fail(`too little was checked: no response of ${kind}`);
  // A fleet of the soak test has no history, so it has no candles.
  const needsCandles = replicas === 1 && exchange === 'v3' && minutes >= MINUTES_WITH_EXACT_CANDLES;
  if (needsCandles && !judge.counts.events.has(EXACT_CANDLES))
    judge.fail(`too little was checked: no ${EXACT_CANDLES}`);
}
