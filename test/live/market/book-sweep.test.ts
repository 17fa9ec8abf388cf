import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UpstreamBadShapeError, UpstreamBadStatusError } from '../../../src/errors.ts';
import { startBookSweep } from '../../../src/live/market/book-sweep.ts';
import type { OrderBookSnapshot } from '../../../src/live/market/order-books.ts';
import { startGatewayForTest } from '../../support/gateway.ts';
import { openRest } from '../../support/rest.ts';

const IDS = ['a', 'b', 'c', 'd', 'e'];
const MINUTE = 60_000;

type Outcome = 'book' | 'empty' | 'no ticker' | 'bad shape' | 'status';

/** A sweep of one book per second, whose reads the test decides. */
function open(
  outcomeOf: (tickerId: string) => Outcome = () => 'book',
  { ids = IDS, readMs = (_id: string): number => 0 } = {},
) {
  const reads: string[] = [];
  const readAt = new Map<string, number>();
  const state = { isBusy: false, isFailing: false };
  const snapshotOf = (entries: number, observedAt: number) =>
    ({
      book: { bids: Array(entries).fill({}), asks: [] },
      observedAt,
      freshUntil: observedAt,
    }) as unknown as OrderBookSnapshot;
  const stop = startBookSweep({
    orderBooks: {
      newest: (tickerId) => (readAt.has(tickerId) ? snapshotOf(1, readAt.get(tickerId) ?? 0) : undefined),
      async read(tickerId) {
        reads.push(tickerId);
        const outcome = outcomeOf(tickerId);
        const ms = readMs(tickerId);
        if (ms > 0) await new Promise((end) => setTimeout(end, ms));
        if (outcome === 'bad shape') throw new UpstreamBadShapeError('MARKET_DATA', 'no book', {});
        if (outcome === 'status') throw new UpstreamBadStatusError('MARKET_DATA', 500, '', {});
        return outcome === 'no ticker' ? undefined : snapshotOf(outcome === 'empty' ? 0 : 1, Date.now());
      },
    },
    tickers: {
      newest: () => ({ market: { byTickerId: new Map(ids.map((id) => [id, []])) } }) as never,
      isFailing: () => state.isFailing,
    },
    isBusy: () => state.isBusy,
    perMinute: 60,
    now: Date.now,
  });
  return { reads, readAt, state, stop };
}

describe('the sweep of order books', () => {
  beforeEach(() => {
    // A turn of the first book begins.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 5_000_000_000_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('reads one book after another, at its rate, until it is stopped', async () => {
    const { reads, stop } = open();
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(reads).toHaveLength(60);
    // Each round begins where the last one ended, or one ticker earlier.
    for (const [n, id] of reads.entries()) {
      const next = (IDS.indexOf(reads[n - 1] ?? id) + 1) % IDS.length;
      if (n > 0) expect([reads[n - 1], IDS[next]]).toContain(id);
    }
    for (const id of IDS) expect(reads.filter((each) => each === id).length).toBeGreaterThan(10);
    stop();
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(reads).toHaveLength(60);
  });

  test('reads the same book at the same time in each replica, whenever that was started', async () => {
    const one = open();
    await vi.advanceTimersByTimeAsync(7_300);
    const other = open();
    const before = one.reads.length;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(other.reads).toEqual(one.reads.slice(before));
    one.stop();
    other.stop();
  });

  test('leaves out books that were read for clients, and waits for clients and for the host', async () => {
    const { reads, readAt, state, stop } = open();
    readAt.set('b', Date.now());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(reads.filter((id) => id === 'b')).toEqual([]);
    for (const reason of ['isBusy', 'isFailing'] as const) {
      state[reason] = true;
      const before = reads.length;
      await vi.advanceTimersByTimeAsync(10_000);
      expect(reads).toHaveLength(before);
      state[reason] = false;
    }
    await vi.advanceTimersByTimeAsync(10_000);
    expect(reads).toContain('b');
    stop();
  });

  test.each<Outcome>(['empty', 'no ticker', 'bad shape'])(
    'reads a book that is %s as often as others',
    async (outcome) => {
      const { reads, stop } = open((id) => (id === 'c' ? outcome : 'book'));
      const others = open();
      await vi.advanceTimersByTimeAsync(20 * 5_000);
      expect(reads).toEqual(others.reads);
      expect(reads).toHaveLength(100);
      others.stop();
      stop();
    },
  );

  /** The longest time between two reads of the same ticker within an hour, in rounds. */
  async function longestGap({
    outcomeOf,
    count,
    readMs,
  }: {
    outcomeOf?: (id: string) => Outcome;
    count: number;
    readMs: (id: string) => number;
  }) {
    const ids = Array.from({ length: count }, (_, n) => `t${n}`);
    const readAt = new Map(ids.map((id) => [id, Date.now()]));
    let longestMs = 0;
    const { stop } = open(
      (id) => {
        const outcome = outcomeOf?.(id) ?? 'book';
        if (outcome === 'book') longestMs = Math.max(longestMs, Date.now() - (readAt.get(id) ?? 0));
        readAt.set(id, Date.now());
        return outcome;
      },
      { ids, readMs },
    );
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    stop();
    for (const [id, at] of readAt) if (outcomeOf?.(id) !== 'status') longestMs = Math.max(longestMs, Date.now() - at);
    return longestMs / (count * 1_000);
  }

  test.each([
    [['t5'], 200],
    [['t5'], 10_000],
    [['t5', 't6', 't20', 't40'], 200],
  ] as const)('reads all others although the reads of %s fail, after %i ms', async (failing, readMs) => {
    const isFailing = (id: string) => (failing as readonly string[]).includes(id);
    const outcomeOf = (id: string) => (isFailing(id) ? 'status' : 'book');
    const gap = await longestGap({ outcomeOf, count: 60, readMs: (id) => (isFailing(id) ? readMs : 200) });
    expect(gap).toBeLessThan(5);
  });

  test.each([
    [60, 1_200],
    [59, 1_200],
    [57, 2_500],
  ])('reads all of %i tickers although each read takes %i ms, longer than a turn', async (count, readMs) => {
    expect(await longestGap({ count, readMs: () => readMs })).toBeLessThan(9);
  });

  test('reads one book at a time: turns during a read are lost', async () => {
    const { reads, stop } = open(() => 'book', { readMs: () => 5_000 });
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(reads.length).toBeGreaterThan(5);
    expect(reads.length).toBeLessThanOrEqual(12);
    stop();
  });

  test('goes on when the clock is set back, also during a pause', async () => {
    let outcome: Outcome = 'status';
    const { reads, readAt, stop } = open(() => outcome);
    await vi.advanceTimersByTimeAsync(10_000);
    outcome = 'book';
    for (const id of IDS) readAt.set(id, Date.now());
    vi.setSystemTime(Date.now() - 60 * MINUTE);
    reads.splice(0);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(new Set(reads)).toEqual(new Set(IDS));
    stop();
  });

  test('reads less often from a host that fails, and as before when it is back', async () => {
    let outcome: Outcome = 'status';
    const { reads, stop } = open(() => outcome);
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    const failed = reads.length;
    expect(failed).toBeGreaterThan(5);
    expect(failed).toBeLessThan(20);
    outcome = 'book';
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    expect(new Set(reads.slice(failed))).toEqual(new Set(IDS));
    const back = reads.length;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(reads.length - back).toBe(60);
    stop();
  });
});

describe('a gateway that reads books in turn', () => {
  test('has bid and ask of every pair with a book, and clients share what it has read', async () => {
    const { ask, read, app, sandbox, lines } = await openRest({ config: { bookSweepPerMinute: 6_000 } });
    type Row = { readonly ticker_id: string; readonly bid?: number; readonly ask?: number };
    const tickers = async (): Promise<readonly Row[]> => (await read('tickers')).tickers;
    const ids = [...new Set((await tickers()).map((row) => row.ticker_id))];
    const withBook = ids.filter((id) => id !== 'pSWAP_pUSDT');
    const known = (rows: readonly Row[]) =>
      new Set(rows.filter(({ bid, ask }) => bid !== undefined && ask !== undefined).map((row) => row.ticker_id));
    await expect.poll(async () => known(await tickers())).toEqual(new Set(withBook));
    // The clock of the gateway stands still: what was read is not read again.
    const calls = sandbox.marketData.calls('orderbook');
    expect(calls).toBeGreaterThanOrEqual(withBook.length);
    expect(calls).toBeLessThan(withBook.length + 10);
    const { data } = await ask('{ orderBook(tickerId: "pBTC_PRV") { bestBid bestAsk } }');
    const row = (await tickers()).find(({ ticker_id: id }) => id === 'pBTC_PRV');
    expect({ bestBid: row?.bid, bestAsk: row?.ask }).toEqual(data.orderBook);
    expect(sandbox.marketData.calls('orderbook')).toBeLessThan(withBook.length + 10);
    expect(lines).toEqual([]);

    await app.close();
    const stopped = sandbox.marketData.calls('orderbook');
    const next = await startGatewayForTest({ of: sandbox });
    await next.untilReady();
    const polls = sandbox.marketData.calls('tickers');
    await expect.poll(() => sandbox.marketData.calls('tickers')).toBeGreaterThan(polls);
    expect(sandbox.marketData.calls('orderbook')).toBe(stopped);
  });

  test('reads none if it is turned off, or without the REST API', async () => {
    for (const config of [{ bookSweepPerMinute: 0 }, { bookSweepPerMinute: 6_000, rest: false }]) {
      const { sandbox, untilReady, advance } = await openRest({ config, before: () => {} });
      await untilReady();
      await advance(2);
      const polls = sandbox.marketData.calls('tickers');
      await expect.poll(() => sandbox.marketData.calls('tickers')).toBeGreaterThan(polls);
      expect(sandbox.marketData.calls('orderbook')).toBe(0);
    }
  });
});
