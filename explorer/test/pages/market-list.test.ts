import { type Client, CombinedError } from '@urql/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMarketList } from '../../src/pages/markets/market-list.ts';
import { MarketsDocument } from '../../src/pages/markets/markets.generated.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Answer = { readonly data?: object; readonly error?: CombinedError };

/** The list of a gateway with these responses: to the query with the first page, and to that of later pages. */
function openList(answers: { readonly first: () => Answer; readonly later?: () => Answer }) {
  const requests = { first: 0, later: 0 };
  const client = {
    query(document: unknown) {
      const page = document === MarketsDocument ? 'first' : 'later';
      requests[page] += 1;
      return { toPromise: async () => answers[page]?.() };
    },
  } as unknown as Client;
  const list = createMarketList({ client, onRestored: () => () => {} });
  const pools = () => list.state.get().data?.pools?.map(({ poolId }) => poolId);
  return { list, pools, requests };
}

const refusal = (code: string, extensions: object = {}): Answer => ({
  error: new CombinedError({ graphQLErrors: [{ message: 'A message.', extensions: { code, ...extensions } }] }),
});

const pageOf = (poolId: string, endCursor: string | null) => ({
  totalCount: 2,
  nodes: [{ poolId }],
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
});
const FIRST = { data: { beaconHeight: 7, tokens: [], pairs: [], tickers: [], poolPairs: pageOf('1', 'a cursor') } };
const LAST = { data: { beaconHeight: 8, poolPairs: pageOf('2', null) } };

test.each(['ORIGIN_NOT_ALLOWED', 'QUERY_TOO_COMPLEX'])(
  'a list that is refused with %s is requested again, later and later',
  async (code) => {
    const { list, requests } = openList({ first: () => refusal(code) });
    list.follow(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(list.state.get().errors).toMatchObject([{ code }]);
    // At once, and after 3, 9, 21 and 45 seconds.
    expect(requests.first).toBe(5);
  },
);

test('a list that a rate limit refuses is requested again after the time that the gateway names', async () => {
  const { list, requests } = openList({ first: () => refusal('RATE_LIMITED', { retryAfterMs: 20_000 }) });
  list.follow(false);
  await vi.advanceTimersByTimeAsync(19_900);
  expect(requests.first).toBe(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(requests.first).toBe(2);
});

test('a later page that a rate limit refuses is requested again, without the pages before it', async () => {
  const later = [refusal('RATE_LIMITED', { retryAfterMs: 4_000 }), LAST];
  const { list, pools, requests } = openList({ first: () => FIRST, later: () => later.shift() ?? LAST });
  list.follow(false);
  await vi.advanceTimersByTimeAsync(3_900);
  expect([pools(), requests]).toEqual([['1'], { first: 1, later: 1 }]);
  await vi.advanceTimersByTimeAsync(200);
  expect([pools(), requests]).toEqual([['1', '2'], { first: 1, later: 2 }]);
});

test('a page for which the list waits is not requested when nobody looks at the list any longer; all are, at once, for the next reader', async () => {
  const later = () => refusal('RATE_LIMITED', { retryAfterMs: 4_000 });
  const { list, requests } = openList({ first: () => FIRST, later });
  const end = list.follow(false);
  await vi.advanceTimersByTimeAsync(1_000);
  end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(requests).toEqual({ first: 1, later: 1 });
  list.follow(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(requests).toEqual({ first: 2, later: 2 });
});
