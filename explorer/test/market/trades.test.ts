import { describe, expect, test } from 'vitest';
import {
  isAnswerOld,
  listTrades,
  MOST_TRADES,
  shownTrade,
  type Trade,
  withBlock,
  withNewestPage,
  withOlderPage,
} from '../../src/pages/market/trades/trade.ts';

const [BASE, TARGET] = ['a', 'b'] as const;

/** A trade whose id says its block and its place there. */
function trade(id: string): Trade {
  return {
    id,
    transactionId: id,
    beaconHeight: Number.parseInt(id, 10),
    time: '2026-01-01T00:00:00.000Z',
    sellToken: { id: TARGET, tokenId: TARGET },
    sellAmount: '4000',
    buyAmount: '2',
    price: 4,
    step: 0,
    steps: 1,
  };
}

/** A page of an answer, newest first. */
const page = (ids: string, endCursor: string | null = null) => ({
  nodes: ids.split(' ').filter(Boolean).map(trade),
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
});

/** A pushed block, with its trades in its own order. */
const block = (beaconHeight: number, ids = '') => ({
  beaconHeight,
  trades: ids.split(' ').filter(Boolean).map(trade),
});

const idsOf = (trades: readonly Trade[]) => trades.map(({ id }) => id).join(' ');

describe('the trades of a market', () => {
  test('are those of the answer and of the blocks after it, newest first', () => {
    const answered = withNewestPage(undefined, page('9b 9a 7a'), 9);
    let pushed = withBlock(undefined, block(9, '9a 9b'));
    pushed = withBlock(pushed, block(10));
    pushed = withBlock(pushed, block(11, '11a 11b 11c'));
    expect(idsOf(listTrades(answered, pushed))).toBe('11c 11b 11a 9b 9a 7a');
    expect(idsOf(listTrades(undefined, pushed))).toBe('11c 11b 11a 9b 9a');
    expect(idsOf(listTrades(answered, undefined))).toBe('9b 9a 7a');
    expect(idsOf(listTrades(withNewestPage(answered, page('11c 11b 11a 9b'), 11), pushed))).toBe(
      '11c 11b 11a 9b 9a 7a',
    );
  });

  test('of a block that was replaced are gone, also if an answer has them', () => {
    const answered = withNewestPage(undefined, page('9b 9a 7a'), 9);
    const pushed = withBlock(withBlock(undefined, block(9, '9a 9b')), block(9, '9c'));
    expect(idsOf(listTrades(answered, pushed))).toBe('9c 7a');
    expect(idsOf(listTrades(answered, withBlock(pushed, block(9, ''))))).toBe('7a');
  });

  test('of a block that was replaced with the one above it are gone with the answer after both are final', () => {
    let answered = withNewestPage(undefined, page('7a'), 8);
    let pushed = withBlock(withBlock(undefined, block(8)), block(9, '9a'));
    for (const height of [10, 11]) {
      expect(isAnswerOld(answered, pushed)).toBe(false);
      pushed = withBlock(pushed, block(height));
    }
    expect(isAnswerOld(answered, pushed)).toBe(true);
    pushed = withBlock(pushed, block(12));
    answered = withNewestPage(answered, page('9x 7a'), 12);
    expect([idsOf(listTrades(answered, pushed)), isAnswerOld(answered, pushed)]).toEqual(['9x 7a', false]);
    for (const height of [13, 14, 15, 16]) pushed = withBlock(pushed, block(height));
    expect(isAnswerOld(answered, pushed)).toBe(false);
  });

  test('are requested again if a pushed block is missing', () => {
    const answered = withNewestPage(undefined, page('8a'), 8);
    const next = withBlock(undefined, block(9, '9a'));
    expect([isAnswerOld(answered, undefined), isAnswerOld(answered, next)]).toEqual([false, false]);
    const afterGap = withBlock(next, block(11, '11a'));
    expect([afterGap.from, isAnswerOld(answered, afterGap)]).toEqual([11, true]);
    expect(isAnswerOld(withNewestPage(answered, page('11a 10a 9a 8a'), 11), afterGap)).toBe(false);
    expect(isAnswerOld(answered, withBlock(undefined, block(10)))).toBe(true);
  });

  test('go on with older ones after a cursor, and stay connected with newer answers', () => {
    let answered = withNewestPage(undefined, page('9a 8a 7a', 'at 7a'), 9);
    answered = withOlderPage(answered, page('6a 5a', 'at 5a'));
    answered = withNewestPage(answered, page('12a 10a 9a', 'at 9a'), 12);
    expect([idsOf(answered.trades), answered.endCursor]).toEqual(['12a 10a 9a 8a 7a 6a 5a', 'at 5a']);
    answered = withOlderPage(answered, page('4a'));
    expect([idsOf(answered.trades), answered.endCursor]).toEqual(['12a 10a 9a 8a 7a 6a 5a 4a', null]);
    // After a long outage, the newest page does not reach what is listed.
    answered = withNewestPage(answered, page('50a 49a 48a', 'at 48a'), 50);
    expect([idsOf(answered.trades), answered.endCursor]).toEqual(['50a 49a 48a', 'at 48a']);
    expect(withNewestPage(answered, page(''), 51)).toEqual({ height: 51, trades: [], endCursor: null });
  });

  test('are bounded, without a history and with many pages', () => {
    let pushed = withBlock(undefined, block(1, '1a'));
    for (let height = 2; height < 1_000; height++) {
      pushed = withBlock(pushed, block(height, height % 2 === 0 ? '' : `${height}a ${height}b`));
    }
    expect(pushed.blocks).toHaveLength(100);
    expect(pushed.blocks.filter(({ trades }) => trades.length === 0).map(({ beaconHeight }) => beaconHeight)).toEqual([
      998,
    ]);
    let answered = withNewestPage(undefined, page('2000a', 'x'), 2_000);
    for (let count = 0; count < 20; count++) {
      answered = withOlderPage(
        answered,
        page(Array.from({ length: 50 }, (_, n) => `${1_999 - count * 50 - n}a`).join(' '), 'x'),
      );
    }
    expect([answered.trades.length, listTrades(answered, pushed).length]).toEqual([MOST_TRADES, MOST_TRADES]);
  });

  test('are in the direction of the market: whoever pays its target buys', () => {
    const token = (tokenId: string) => ({ id: tokenId, tokenId, symbol: null, decimals: 0, usdPrice: null });
    const [base, target] = [token(BASE), token(TARGET)];
    expect(shownTrade(trade('9a'), { target, isInverse: false })).toEqual({
      isBuy: true,
      price: 4,
      base: '2',
      target: '4000',
    });
    expect(shownTrade(trade('9a'), { target: base, isInverse: true })).toEqual({
      isBuy: false,
      price: 0.25,
      base: '4000',
      target: '2',
    });
    expect(shownTrade({ ...trade('9a'), price: null }, { target, isInverse: true }).price).toBeNull();
  });
});
