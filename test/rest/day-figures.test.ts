import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { poolPairAt } from '../../src/domain/exchange.ts';
import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import { createDayFigures, type DayRange } from '../../src/rest/day-figures.ts';
import { exchangeStateOf, poolOf, tokenId } from '../domain/pools.ts';
import { headOf } from '../live/chain/heads.ts';

/** A head with some pools, and ranges whose reads the test ends. */
function open({ poolCount = 6 } = {}) {
  const pools = Array.from({ length: poolCount }, (_, n) => poolOf(5n, 7n, { token2Id: tokenId(`${1_000 + n}`) }));
  const head = { ...headOf(1_000), exchange: exchangeStateOf(1_000, pools) };
  const reads: {
    readonly pools: readonly PoolPair[];
    end(ranges: readonly (DayRange | undefined)[]): void;
    fail(): void;
  }[] = [];
  const ranges = createDayFigures<DayRange>((_head, pools) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly (DayRange | undefined)[]>();
    reads.push({ pools, end: resolve, fail: () => reject(new Error('no history')) });
    return promise;
  });
  return { head, reads, ranges };
}

const rangeOf = (pool: PoolPair, factor: bigint): DayRange => ({
  highest: { ...pool, reserve1: pool.reserve1 * factor },
  lowest: pool,
});

describe('the ranges of pools', () => {
  test('are read once for all documents of a head, of the pools that are needed', async () => {
    const { head, reads, ranges } = open();
    const [third, fifth] = [head.exchange.directory.ids[3], head.exchange.directory.ids[5]];
    const documents = [ranges.at(head, () => new Set([3, 5])), ranges.at(head, () => new Set([3, 5]))];
    expect(reads.map(({ pools }) => pools.map(poolPairId))).toEqual([[third, fifth]]);
    expect(ranges.known(head)).toBeUndefined();

    const [pool] = reads[0]?.pools ?? [];
    if (pool === undefined) throw new Error('no pool was read');
    reads[0]?.end([rangeOf(pool, 2n), undefined]);
    const [found] = await Promise.all([...documents, ranges.at(head, () => new Set([3, 5]))]);
    expect(found).toEqual(new Map([[third, rangeOf(pool, 2n)]]));
    expect(ranges.known(head)).toBe(found);
    expect(reads).toHaveLength(1);
  });

  test('are read of a hundred pools in one turn of the event loop', async () => {
    const { head, reads, ranges } = open({ poolCount: 250 });
    const { exchange } = head;
    const found = ranges.at(head, () => new Set(Array(205).keys()));
    for (const [index, length] of [100, 100, 5].entries()) {
      await expect.poll(() => reads[index]?.pools.length).toBe(length);
      reads[index]?.end(reads[index].pools.map((pool) => rangeOf(pool, 2n)));
      await new Promise(process.nextTick);
      expect(reads).toHaveLength(index + 1);
    }
    const pools = Array.from({ length: 205 }, (_, place) => poolPairAt(exchange, place));
    expect(await found).toEqual(new Map(pools.map((pool) => [poolPairId(pool), rangeOf(pool, 2n)])));
  });

  test('are those of the head of the document, also while those of another head are read', async () => {
    const { head, reads, ranges } = open();
    const later = { ...head, beaconHeight: head.beaconHeight + 1 };
    const places = () => new Set([3]);
    const documents = [ranges.at(head, places), ranges.at(later, places)];
    expect(reads).toHaveLength(2);
    const found = reads.map(({ pools }, place) => pools.map((pool) => rangeOf(pool, BigInt(place + 2))));
    reads[1]?.end(found[1] ?? []);
    expect([...((await documents[1]) ?? []).values()]).toEqual(found[1]);
    reads[0]?.end(found[0] ?? []);
    expect([...((await documents[0]) ?? []).values()]).toEqual(found[0]);
    expect([ranges.known(head), [...(ranges.known(later) ?? []).values()]]).toEqual([undefined, found[1]]);
  });

  test('are waited for, but not for long', async () => {
    const { head, reads, ranges } = open();
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const document = ranges.at(head, () => new Set([0]));
    await vi.advanceTimersByTimeAsync(2_000);
    expect([await document, reads.length, ranges.known(head)]).toEqual([undefined, 1, undefined]);
    // A later document has them.
    reads[0]?.end([undefined]);
    expect(await ranges.at(head, () => new Set([0]))).toEqual(new Map());
  });

  test('are not known of a head at which the history cannot be read', async () => {
    const { head, reads, ranges } = open();
    const found = ranges.at(head, () => new Set([0]));
    reads[0]?.fail();
    expect(await found).toEqual(new Map());
    ranges.at({ ...head }, () => new Set([0]));
    expect(reads).toHaveLength(2);
  });
});
