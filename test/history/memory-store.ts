import type { BeaconHeight } from '../../src/domain/beacon-height.ts';
import type { Instant } from '../../src/domain/instant.ts';
import { heightsToRead } from '../../src/history/state-backfill.ts';
import {
  type Coverage,
  type FinalBlock,
  HistoryDatabaseError,
  type HistoryStore,
  type RecordedHeight,
} from '../../src/history/store.ts';
import type { TradedBlock } from '../../src/history/trade-store.ts';
import { createTradesModel } from './trades-model.ts';

/** A store in memory, which a test can look at and break. It has no candles. */
export type MemoryStore = HistoryStore & {
  /** The recorded blocks by height. */
  readonly blocks: ReadonlyMap<BeaconHeight, FinalBlock>;
  /** The blocks whose trades are recorded, ascending, and their heights in the order in which they were recorded. */
  tradedBlocks(): readonly TradedBlock[];
  readonly tradedOrder: readonly BeaconHeight[];
  /** The recorded heights in the order in which they were recorded. */
  readonly order: readonly BeaconHeight[];
  /** The times of `prune`. */
  readonly pruned: readonly Instant[];
  chainName: string | undefined;
  /** What every operation fails with, while it is set. */
  failure: Error | undefined;
  isClosed: boolean;
  /** Resolves once a condition holds after something was recorded. */
  until(condition: () => boolean): Promise<void>;
};

/** Creates an empty store. */
export function createMemoryStore(): MemoryStore {
  const blocks = new Map<BeaconHeight, FinalBlock>();
  const order: BeaconHeight[] = [];
  const tradedOrder: BeaconHeight[] = [];
  const pruned: Instant[] = [];
  const waiting = new Set<() => void>();

  const heights = () => [...blocks.keys()].sort((a, b) => a - b);
  const at = (height: BeaconHeight): RecordedHeight => {
    const { hash, time } = blocks.get(height) as FinalBlock;
    return { beaconHeight: height, hash, time };
  };
  function requireWorking(): void {
    if (store.failure !== undefined) throw store.failure;
  }

  /** Whoever waits sees what happens after the recording too. */
  function notify(): void {
    setImmediate(() => {
      for (const check of [...waiting]) check();
    });
  }

  const {
    blocks: tradedBlocks,
    recordTrades,
    deleteAbove: deleteTradesAbove,
    deleteBefore: _,
    ...traded
  } = createTradesModel();
  const store: MemoryStore = {
    ...traded,
    async recordTrades(some) {
      requireWorking();
      notify();
      tradedOrder.push(...some.map(({ beaconHeight }) => beaconHeight));
      return recordTrades(some);
    },
    tradedBlocks,
    tradedOrder,
    blocks,
    order,
    pruned,
    chainName: undefined,
    failure: undefined,
    isClosed: false,
    until: (condition) =>
      new Promise((resolve) => {
        const check = () => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    async useChain(name) {
      requireWorking();
      store.chainName ??= name;
      if (store.chainName !== name) throw new HistoryDatabaseError('of another chain', { isPermanent: true });
    },
    async record(some: readonly FinalBlock[]) {
      requireWorking();
      const leftOut: BeaconHeight[] = [];
      for (const block of some) {
        const { beaconHeight } = block.exchange;
        const before = blocks.get(beaconHeight);
        if (before !== undefined && before.time !== block.time) leftOut.push(beaconHeight);
        if (before !== undefined) continue;
        blocks.set(beaconHeight, block);
        order.push(beaconHeight);
      }
      notify();
      return leftOut;
    },
    async coverage(max, step = 1) {
      requireWorking();
      const all = heights();
      const [first] = all;
      const last = all.at(-1);
      if (first === undefined || last === undefined) return undefined;
      const gaps: Coverage['gaps'][number][] = [];
      for (const [index, height] of all.entries()) {
        const next = all[index + 1];
        if (next !== undefined && next > height + 1) gaps.unshift({ from: height + 1, to: next - 1 });
      }
      const readable = gaps.filter((gap) => !heightsToRead(gap, step)[Symbol.iterator]().next().done);
      return { first: at(first), last: at(last), heights: all.length, gaps: readable.slice(0, max) };
    },
    async blocksAt(times, version) {
      requireWorking();
      const all = heights()
        .filter((height) => version === undefined || blocks.get(height)?.version === version)
        .map(at);
      return times.map((time) => {
        const block = all.findLast((each) => each.time <= time);
        return block && { block, next: all.find(({ beaconHeight }) => beaconHeight > block.beaconHeight) };
      });
    },
    async firstBlock(version) {
      requireWorking();
      return heights()
        .filter((height) => blocks.get(height)?.version === version)
        .map(at)[0];
    },
    async recentBlocks({ upTo, last }) {
      requireWorking();
      const counted = heights().filter((height) => height <= upTo);
      return counted.slice(Math.max(0, counted.length - last)).map(at);
    },
    async stateAt(height) {
      requireWorking();
      const found = heights().findLast((each) => each <= height);
      return found === undefined ? undefined : blocks.get(found)?.exchange;
    },
    candles: () => Promise.reject(new Error('this store has no candles')),
    windows: () => Promise.reject(new Error('this store has no windows')),
    reservesAt: () => Promise.reject(new Error('this store has no reserves')),
    async deleteFrom({ beaconHeight, time }) {
      requireWorking();
      if (blocks.get(beaconHeight)?.time !== time) return [];
      const deleted = heights().filter((height) => height >= beaconHeight);
      for (const height of deleted) blocks.delete(height);
      deleteTradesAbove(heights().at(-1) ?? 0);
      return deleted;
    },
    async prune(now) {
      requireWorking();
      pruned.push(now);
    },
    deletedBefore: async () => 0,
    async close() {
      store.isClosed = true;
    },
  };
  return store;
}
