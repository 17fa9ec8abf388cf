import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { type ExpectedWindow, expectedWindow, priceAt } from '../expected/candle.ts';
import { isV3, tradingPools } from '../expected/exchange.ts';
import { fieldMismatch, listMismatch } from '../expected/market.ts';
import { hasBranches, tradedBy, tradesSince } from '../expected/pool-trades.ts';
import type { Operation } from '../judge.ts';
import { BLOCKS_UNTIL_FINAL } from '../outages.ts';

const INTERVALS = { ONE_MINUTE: 1, FIVE_MINUTES: 5, FIFTEEN_MINUTES: 15, ONE_HOUR: 60 } as const;
const MINUTE_MS = 60_000;

/** What a candle and a change have in common. */
const WINDOW = 'high low tradedToken1 tradedToken2 isComplete';

type Window = {
  readonly high: number | null;
  readonly low: number | null;
  readonly tradedToken1: string;
  readonly tradedToken2: string;
  readonly isComplete: boolean;
};

type Candle = Window & {
  readonly openTime: string;
  readonly closeTime: string;
  readonly open: number | null;
  readonly close: number | null;
  readonly firstHeight: number;
  readonly lastHeight: number;
  readonly heights: number;
  readonly isClosed: boolean;
  readonly isVolumeExact: boolean;
};

type Change = Window & {
  readonly fromHeight: number;
  readonly fromTime: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly absolute: number | null;
  readonly percent: number | null;
};

type Data = {
  readonly beaconHeight?: number;
  readonly poolPair?: { readonly candles: readonly Candle[]; readonly change: Change | null } | null;
};

/** The candles of a pool and the change of its price: what is final must be that of the chain, without any replaced block. */
export function historyQuery({ shown, served, judge }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  // A pool that appears later has no price before: the tests of the history compare those.
  const pool = pick(random, tradingPools(chain, chain.oldestHeight));
  const interval = pick(random, Object.keys(INTERVALS) as (keyof typeof INTERVALS)[]);
  const intervalMs = INTERVALS[interval] * MINUTE_MS;
  const hours = pick(random, [1, 2, 24]);

  /** The blocks of final heights; `undefined` if one is not final, or a node has shown a branch there. */
  function finalBlocks(from: number, to: number, tip: number): readonly Block[] | undefined {
    if (to > tip - BLOCKS_UNTIL_FINAL || from < chain.oldestHeight) return undefined;
    const heights = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    if (heights.some((height) => shown.isBranched(height))) return undefined;
    return heights.map((height) => chain.block(height)).filter((block) => block !== undefined);
  }

  function candleMismatch(candle: Candle, tip: number): string | undefined {
    const { firstHeight, lastHeight, openTime, closeTime, heights, isComplete, isClosed } = candle;
    const times = [Date.parse(openTime), Date.parse(closeTime)] as const;
    if (times[0] % intervalMs !== 0 || times[1] - times[0] !== intervalMs) return `${openTime} to ${closeTime}`;
    const ends = finalBlocks(firstHeight, firstHeight, tip)?.concat(finalBlocks(lastHeight, lastHeight, tip) ?? []);
    const [first, last] = ends ?? [];
    if (first === undefined || last === undefined) return undefined;
    for (const { time, height } of [first, last])
      if (time * 1_000 < times[0] || time * 1_000 >= times[1]) return `${height} is not in the candle of ${openTime}`;
    const expected = { open: priceAt(pool, first), close: priceAt(pool, last) };
    const mismatch = listMismatch([{ open: candle.open, close: candle.close }], [expected], `candle of ${openTime}`);
    if (mismatch !== undefined || !isComplete || !isClosed) return mismatch;

    const blocks = finalBlocks(firstHeight - 1, lastHeight + 1, tip);
    if (blocks === undefined) return undefined;
    const [before, ...others] = blocks;
    const after = others.pop();
    if (before === undefined || after === undefined) return undefined;
    if (before.time * 1_000 >= times[0]) return `${before.height} is missing in the complete candle of ${openTime}`;
    if (after.time * 1_000 < times[1]) return `${after.height} is missing in the complete candle of ${openTime}`;
    if (heights !== others.length) return `${heights} heights in the complete candle of ${openTime}`;
    return windowMismatch(candle, expectedWindow(pool, others, before), `candle of ${openTime}`);
  }

  /** Exact volumes are those of all trades of the interval, so far. */
  function exactMismatch({ openTime, closeTime, isVolumeExact, ...candle }: Candle, newest: Block): string | undefined {
    if (!isVolumeExact) return undefined;
    if (!isV3(chain)) return 'an exact volume in V1';
    const [from, to] = [Date.parse(openTime) / 1_000, Date.parse(closeTime) / 1_000];
    if (hasBranches(shown, newest, from)) return undefined;
    judge.count('candles with exact volumes');
    const trades = tradesSince(chain, newest, pool, from).filter(({ time }) => time < to);
    const actual = [candle.tradedToken1, candle.tradedToken2];
    return listMismatch([actual], [tradedBy(trades)], `exact volumes of the candle of ${openTime}`);
  }

  function changeMismatch(change: Change, newest: Block, answeredHeight: number): string | undefined {
    const { fromHeight, fromTime, from, to } = change;
    const name = `change(hours: ${hours})`;
    const price = priceAt(pool, newest);
    if (to !== price) return `${name}.to is ${to} instead of ${price}`;
    const absolute = from === null || to === null ? null : to - from;
    const percent = from === null || to === null || from === 0 ? null : 100 * (to / from - 1);
    const mismatch = listMismatch(
      [{ absolute: change.absolute, percent: change.percent }],
      [{ absolute, percent }],
      name,
    );
    if (mismatch !== undefined) return mismatch;

    const [start] = finalBlocks(fromHeight, fromHeight, answeredHeight) ?? [];
    if (start === undefined) return undefined;
    const expected = { fromTime: new Date(start.time * 1_000).toISOString(), from: priceAt(pool, start) };
    return listMismatch([{ fromTime, from }], [expected], name) ?? wholeWindowMismatch(change, newest, name);
  }

  /** Compares the highs and lows of a window without gaps, if no other block was ever shown at its newest heights. */
  function wholeWindowMismatch(change: Change, newest: Block, name: string): string | undefined {
    const finalTo = newest.height - BLOCKS_UNTIL_FINAL;
    const final = finalBlocks(change.fromHeight, finalTo, newest.height);
    const others = Array.from({ length: BLOCKS_UNTIL_FINAL }, (_, index) => shown.at(finalTo + 1 + index));
    if (!change.isComplete || final === undefined || others.some(({ length }) => length !== 1)) return undefined;
    const [start, ...later] = [...final, ...others.flat()];
    if (start === undefined) return undefined;
    const window = expectedWindow(pool, [start, ...later]);
    return windowMismatch(change, window, name);
  }

  const [declared, field, variables] = isV3(chain)
    ? ['$poolId: String!', 'pool(poolId: $poolId)', { poolId: pool.id }]
    : ['$a: TokenId!, $b: TokenId!', 'poolPair(token1Id: $a, token2Id: $b)', { a: pool.token1.id, b: pool.token2.id }];
  return {
    kind: 'candles and the change of a pool',
    query: `query (${declared}, $interval: CandleInterval!, $hours: Int!) {
      beaconHeight
      poolPair: ${field} {
        candles(interval: $interval, last: 12) {
          openTime closeTime open close firstHeight lastHeight heights isClosed isVolumeExact ${WINDOW}
        }
        change(hours: $hours) { fromHeight fromTime from to absolute percent ${WINDOW} }
      }
    }`,
    variables: { ...variables, interval, hours },
    check({ beaconHeight: height, poolPair }: Data, times) {
      if (height === undefined) return undefined;
      return fieldMismatch(poolPair, 'poolPair', ({ candles, change }) => {
        for (const [index, candle] of candles.entries()) {
          const next = candles[index + 1];
          if (next && Date.parse(next.openTime) < Date.parse(candle.closeTime)) return 'the candles overlap';
          const mismatch = candleMismatch(candle, height);
          if (mismatch !== undefined) return mismatch;
        }
        const { lastHeight } = candles.at(-1) ?? {};
        if (lastHeight !== height) return `the last candle ends at ${lastHeight} instead of ${height}`;
        return served.mismatch(height, times, (block) => {
          const exact = candles.map((candle) => exactMismatch(candle, block)).find((each) => each !== undefined);
          return exact ?? (change === null ? undefined : changeMismatch(change, block, height));
        });
      });
    },
  };
}

function windowMismatch(
  { high, low, tradedToken1, tradedToken2 }: Window,
  { highs, lows, traded }: ExpectedWindow,
  name: string,
): string | undefined {
  if (!highs.includes(high)) return `the high of ${name} is ${high} instead of ${highs.join(' or ')}`;
  if (!lows.includes(low)) return `the low of ${name} is ${low} instead of ${lows.join(' or ')}`;
  return traded && listMismatch([[tradedToken1, tradedToken2]], [traded], `traded of ${name}`);
}
