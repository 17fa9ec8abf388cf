import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { poolPairAt } from '../../src/domain/exchange.ts';
import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import { createDayFigures, type DayRange } from '../../src/rest/day-figures.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { startGateway } from '../support/gateway.ts';

/** The head of a sandbox, and ranges whose reads the test ends. */
async function open(sandbox: SandboxOptions = {}) {
  const gateway = await startGateway({ sandbox: { history: 20, ...sandbox } });
  const head = await gateway.app.service.sources.head.get();
  await gateway.close();
  const reads: {
    readonly pools: readonly PoolPair[];
    end(ranges: readonly (DayRange | undefined)[]): void;
    fail(): void;
  }[] = [];
  let recorded = 1;
  const ranges = createDayFigures<DayRange>({
    read(_head, pools) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly (DayRange | undefined)[]>();
      reads.push({ pools, end: resolve, fail: () => reject(new Error('no history')) });
      return promise;
    },
    version: () => recorded,
    pauseFactor: 49,
  });
  const rangeOfPlace = (place: number) => ranges.newest().byPool.get(head.exchange.directory.ids[place] ?? '');
  return { head, reads, ranges, rangeOfPlace, record: () => ++recorded };
}

const rangeOf = (pool: PoolPair, factor: bigint): DayRange => ({
  highest: { ...pool, reserve1: pool.reserve1 * factor },
  lowest: pool,
});

describe('the ranges of pools', () => {
  test('are read once for all documents, of the pools that are needed', async () => {
    const { head, reads, ranges, rangeOfPlace } = await open();
    const before = ranges.newest();
    const documents = [ranges.at(head, () => new Set([3, 5])), ranges.at(head, () => new Set([3, 5]))];
    expect(reads.map(({ pools }) => pools.map(poolPairId))).toEqual([
      [head.exchange.directory.ids[3], head.exchange.directory.ids[5]],
    ]);
    expect(ranges.newest()).toBe(before);

    const [pool] = reads[0]?.pools ?? [];
    if (pool === undefined) throw new Error('no pool was read');
    reads[0]?.end([rangeOf(pool, 2n), undefined]);
    await Promise.all(documents);
    expect(ranges.newest().head).toBe(head);
    expect(ranges.newest().byPool).not.toBe(before.byPool);
    expect([rangeOfPlace(3), rangeOfPlace(5)]).toEqual([rangeOf(pool, 2n), undefined]);
  });

  test('are read of a hundred pools in one turn of the event loop', async () => {
    const { head, reads, ranges, rangeOfPlace } = await open({ pools: 250 });
    const { exchange } = head;
    ranges.at(head, () => new Set(Array(205).keys()));
    for (const [index, length] of [100, 100, 5].entries()) {
      await expect.poll(() => reads[index]?.pools.length).toBe(length);
      reads[index]?.end(reads[index].pools.map((pool) => rangeOf(pool, 2n)));
      await new Promise(process.nextTick);
      expect(reads).toHaveLength(index + 1);
    }
    await nextTurn();
    for (let place = 0; place < 205; place++)
      expect(rangeOfPlace(place)).toEqual(rangeOf(poolPairAt(exchange, place), 2n));
  });

  test('are those of the head of the document, also while those of another head are read', async () => {
    const { head, reads, ranges } = await open();
    const later = { ...head, beaconHeight: head.beaconHeight + 1 };
    const places = () => new Set([3]);
    const documents = [ranges.at(head, places), ranges.at(later, places)];
    expect(reads).toHaveLength(2);
    const found = reads.map(({ pools }, place) => pools.map((pool) => rangeOf(pool, BigInt(place + 2))));
    reads[1]?.end(found[1] ?? []);
    expect([...((await documents[1]) ?? []).values()]).toEqual(found[1]);
    reads[0]?.end(found[0] ?? []);
    expect([...((await documents[0]) ?? []).values()]).toEqual(found[0]);
    expect([...ranges.newest().byPool.values()]).toEqual(found[1]);
    // A document of an earlier head does not replace them.
    expect(await ranges.at(head, places)).toBeUndefined();
    expect([reads.length, ranges.newest().head]).toEqual([2, later]);
  });

  test('are waited for, but not for long', async () => {
    const { head, reads, ranges } = await open();
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const document = ranges.at(head, () => new Set([0]));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await document).toBeUndefined();
    expect([reads.length, ranges.newest().head]).toEqual([1, undefined]);
  });

  test('are read again when something has been recorded, but not all the time', async () => {
    const { head, reads, ranges, record } = await open();
    ranges.at(head, () => new Set([0]));
    reads[0]?.end([undefined]);
    await nextTurn();
    ranges.at(head, () => new Set([0]));
    expect(reads).toHaveLength(1);
    record();
    await expect
      .poll(() => {
        ranges.at(head, () => new Set([0]));
        return reads.length;
      })
      .toBe(2);
  });

  test('are read again for one head in a fiftieth of the time, but at least once a minute', async () => {
    const { head, reads, ranges, record } = await open();
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const refresh = () => void ranges.at(head, () => new Set([0]));
    refresh();
    for (const [count, readMs, pauseMs] of [
      [1, 1_000, 49_000],
      [2, 10_000, 60_000],
    ] as const) {
      const read = reads[count - 1];
      vi.advanceTimersByTime(readMs);
      read?.end(read.pools.map((pool) => rangeOf(pool, 2n)));
      await nextTurn();
      record();
      vi.advanceTimersByTime(pauseMs - 1);
      refresh();
      expect(reads).toHaveLength(count);
      vi.advanceTimersByTime(1);
      refresh();
      expect(reads).toHaveLength(count + 1);
    }
  });

  test('are read again for each head', async () => {
    const { head, reads, ranges } = await open();
    ranges.at(head, () => new Set([0]));
    reads[0]?.end([undefined]);
    await nextTurn();
    ranges.at({ ...head }, () => new Set([0]));
    expect(reads).toHaveLength(2);
  });

  test('change no document while none is known', async () => {
    const { head, reads, ranges } = await open();
    const before = ranges.newest().byPool;
    ranges.at(head, () => new Set([0]));
    reads[0]?.end([undefined]);
    await nextTurn();
    expect(ranges.newest().head).toBe(head);
    expect(ranges.newest().byPool).toBe(before);
  });

  test('are not known while the history cannot be read', async () => {
    const { head, reads, ranges, rangeOfPlace, record } = await open();
    ranges.at(head, () => new Set([0]));
    const [pool] = reads[0]?.pools ?? [];
    if (pool === undefined) throw new Error('no pool was read');
    reads[0]?.end([rangeOf(pool, 3n)]);
    await nextTurn();
    expect(rangeOfPlace(0)).toBeDefined();

    record();
    const known = ranges.newest().byPool;
    await expect
      .poll(() => {
        ranges.at(head, () => new Set([0]));
        return reads.length;
      })
      .toBe(2);
    reads[1]?.fail();
    await nextTurn();
    expect(rangeOfPlace(0)).toBeUndefined();
    expect(ranges.newest().byPool).not.toBe(known);
  });
});
