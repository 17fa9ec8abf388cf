import { expect } from 'vitest';
import type { Upstream } from '../../src/errors.ts';
import type { Answer } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';
import type { Failure } from './failure.ts';

/** Both upstreams: the current height, two earlier ones, both lists and a book. */
export const BOTH = `query ($known: BeaconHeight!, $past: BeaconHeight!) {
  beaconHeight
  poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { beaconHeight pairs { tickerId } }
  known: poolPairs(first: 0, at: $known) { totalCount }
  past: poolPairs(first: 0, at: $past) { totalCount }
  pairs(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId poolPair { beaconHeight } }
  tickers(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId }
  orderBook(tickerId: "pBTC_PRV") { tickerId }
}`;

/** The data of {@link BOTH} when nothing fails. */
export function expectedData(beaconHeight: number) {
  return {
    beaconHeight,
    poolPair: { beaconHeight, pairs: [{ tickerId: 'pBTC_PRV' }] },
    known: { totalCount: POOLS },
    past: { totalCount: POOLS },
    pairs: [{ tickerId: 'pBTC_PRV', poolPair: { beaconHeight } }],
    tickers: [{ tickerId: 'pBTC_PRV' }],
    orderBook: { tickerId: 'pBTC_PRV' },
  };
}

const POOLS = 54;

/** The variables of {@link BOTH}: a height that was requested before, and one that was not. */
export function earlier(height: number) {
  return { known: height - 10, past: height - 20 };
}

type Path = readonly (string | number)[];

/** The fields of {@link BOTH} that are null when an upstream fails from the start. */
export const LOST_FROM_THE_START: Record<Upstream, readonly Path[]> = {
  NODE: [['beaconHeight'], ['poolPair'], ['known'], ['past'], ['pairs', 0, 'poolPair']],
  MARKET_DATA: [['poolPair', 'pairs'], ['pairs'], ['tickers'], ['orderBook']],
};

/** Those that are null when it fails after good responses: only what must be read anew. */
export const LOST_LATER: Record<Upstream, readonly Path[]> = {
  NODE: [['past']],
  MARKET_DATA: [['orderBook']],
};

/** Subscriptions, each with a value that differs in each of its events. */
export const SUBSCRIPTIONS = {
  prices: `subscription {
    prices(poolPairs: [{ token1Id: "${PRV}", token2Id: "${BTC}" }]) { beaconHeight previousHeight poolPairs { beaconHeight } }
  }`,
  tickers: 'subscription { tickers { tickerId lastPrice baseVolume targetVolume } }',
  orderBook: 'subscription { orderBook(tickerId: "pBTC_PRV") { timestamp } }',
};

/** Which of them an upstream is the source of. */
export const SUBSCRIBED: Record<Upstream, readonly string[]> = {
  NODE: ['prices'],
  MARKET_DATA: ['tickers', 'orderBook'],
};

const NAMES: Record<Upstream, string> = { NODE: 'The node', MARKET_DATA: 'The market-data host' };

/** Expects that exactly these fields are null, each with this error, and that no address of the upstream is sent. */
export function expectLoss(answer: Answer, data: object, lost: readonly Path[], error: ClientError): void {
  expect(answer.data).toEqual(lost.reduce(withNullAt, data));
  const errors = answer.errors?.map((each) => ({ path: each.path, ...toClientError(each) }));
  expect(errors).toHaveLength(lost.length);
  expect(errors).toEqual(expect.arrayContaining(lost.map((path) => ({ path, ...error }))));
  expect(JSON.stringify(answer)).not.toMatch(/127\.0\.0\.1|10\.0\.0\.1|localhost|ECONN/);
}

function withNullAt(data: object, [key = '', ...rest]: Path): object {
  const copy: Record<string, unknown> | unknown[] = Array.isArray(data) ? [...data] : { ...data };
  Object.assign(copy, {
    [key]: rest.length === 0 ? null : withNullAt((data as Record<string, object>)[key] ?? {}, rest),
  });
  return copy;
}

type ClientError = { readonly message: string; readonly extensions: object };

/** The error that a client gets. */
export function errorOf(upstream: Upstream, { code, message }: Failure): ClientError {
  return { message: `${NAMES[upstream]} ${message}.`, extensions: { code, upstream } };
}

/** An error without its path and its place in the document. */
export function toClientError({ message, extensions }: ClientError): ClientError {
  return { message, extensions };
}
