import DataLoader from 'dataloader';
import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import { placeOf, versionOf } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { type PoolName, type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import type { Reserves } from '../domain/reserves.ts';
import type { Head } from '../live/chain/head.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import type { Dependencies } from './dependencies.ts';
import type { HeadPin } from './head-pin.ts';
import type { ReadKnownTrades } from './known-trades.ts';
import type { LoaderInputs, Sources } from './sources.ts';
import type { TokenLoader } from './token.ts';
import type { TradesAtHead } from './trades-at-head.ts';
import type { WindowStarts } from './window-starts.ts';

/** What the loaders of candles, price changes and sparklines of one response read from. */
export type HistoryReads = {
  readonly view: ReturnType<typeof createHistoryView>;
  readonly windowStarts: WindowStarts;
  readonly readKnownTrades: ReadKnownTrades;
  readonly tradesAtHead: TradesAtHead;
  readonly tokens: TokenLoader;
  readonly limits: Pick<LoaderInputs['options'], 'maxCandles' | 'maxHistoryHours' | 'maxPageSize' | 'requester'>;
};

/** What the history loader of one response reads from, and where it notes what the response depends on. */
export type HistoryLoaderOptions = Pick<HistoryReads, 'tokens' | 'limits'> & {
  readonly sources: Pick<Sources, 'history' | 'historyQueue' | 'windowStarts' | 'tradesAtHead'> & {
    readonly trades: Pick<Sources['trades'], 'of'>;
    readonly head: Pick<HeadFollower, 'get' | 'nextAt'>;
  };
  readonly head: HeadPin;
  readonly dependencies: Dependencies;
};

/** Creates the view that one response has of the recorded history and of the heads in memory, and notes what can change it. */
export function createHistoryView({ sources, head, dependencies, limits }: HistoryLoaderOptions) {
  const { history, historyQueue, head: follower } = sources;
  let dependsOnVersion = false;
  let fills: number | undefined;
  let tradesVersion: number | undefined;

  // A height is recorded with each new one. Older ones can come at any time.
  const expectedUntil = () => (history.isBackfilling() ? undefined : follower.nextAt());

  function dependOnFills(): void {
    if (fills !== undefined) return;
    fills = history.fills();
    dependencies.dependOn(history.fills, fills, expectedUntil);
  }

  function dependOnTrades(version = history.tradesVersion()): void {
    if (tradesVersion === version) return;
    tradesVersion = version;
    dependencies.dependOn(history.tradesVersion, version, expectedUntil);
  }

  /** The head of the response, if it is the block of a pool. */
  function headAt({ beaconHeight }: PoolPair): Head | undefined {
    const pinned = head.currentFor(beaconHeight);
    return pinned?.beaconHeight === beaconHeight ? pinned : undefined;
  }

  return {
    history,
    /** Reads from the history when it is the turn of this operation. @throws HistoryUnavailableError */
    read: <T>(operation: () => Promise<T>): Promise<T> => historyQueue.queue(operation).wait(limits.requester),
    /** Notes that the response may be different after something else has been recorded. */
    dependOnVersion(version = history.version()) {
      if (dependsOnVersion) return;
      dependsOnVersion = true;
      dependencies.dependOn(history.version, version, expectedUntil);
    },
    /** Notes that the response may be different after a missing height has been recorded. */
    dependOnFills,
    /** Whether `dependOnVersion` was called. */
    canChange: () => dependsOnVersion,
    /** The number of missing heights that were recorded before `dependOnFills` was called; `undefined` if it was not. */
    fills: () => fills,
    /** Whether a text that depends on that number can be part of the response, which then depends on it too. */
    canIncludeFills(number: number): boolean {
      dependOnFills();
      return fills === number;
    },
    /** Notes that the response may be different after the trades of a block have been recorded. */
    dependOnTrades,
    /** The version of the recorded trades on which the response depends; `undefined` if it does not. */
    tradesVersion: () => tradesVersion,
    /** Whether a text that depends on that version can be part of the response, which then depends on it too. */
    canIncludeTrades(version: number): boolean {
      dependOnTrades();
      return tradesVersion === version;
    },
    headAt,
    /** When the block of a pool was made; `undefined` if the node does not report it. */
    timeOf: (pool: PoolPair): Instant | undefined => pool.time ?? headAt(pool)?.time,
    /** The height of the response's head, or this height if it is above. */
    tipFrom: (height: BeaconHeight): BeaconHeight => Math.max(height, head.currentFor(height)?.beaconHeight ?? 0),
    /**
     * The heads in memory up to the height of a pool, ascending, all of the branch of the response's head. Heads of the other
     * version of the exchange do not show the pool, and are left out.
     */
    headsOf(pool: PoolPair): readonly Head[] {
      const version = versionOf(pool);
      return headsUpTo(pool.beaconHeight).filter(({ exchange }) => versionOf(exchange) === version);
    },
  };

  function headsUpTo(height: BeaconHeight): readonly Head[] {
    const pinned = head.currentFor(height);
    const inMemory = history.unrecorded().filter(({ beaconHeight }) => beaconHeight <= height);
    const newest = inMemory.at(-1);
    if (pinned === undefined || newest === undefined || pinned.beaconHeight > height) return inMemory;
    if (inMemory.includes(pinned)) return inMemory;
    const isBelow = ({ beaconHeight, time }: Head) => beaconHeight < pinned.beaconHeight && time <= pinned.time;
    const below = inMemory.filter(isBelow);
    const parent = below.at(-1);
    if (pinned.previousHash !== undefined && parent?.hash === pinned.previousHash) return [...below, pinned];
    // Another block has replaced the head of the response: only final heights are on both branches.
    return [...below.filter(({ beaconHeight }) => isFinal(beaconHeight, pinned.beaconHeight)), pinned];
  }
}

/** The newest head at a moment, if it is above a block; `undefined` if none is. */
export function newerHead(
  heads: readonly Head[],
  moment: Instant,
  block: { readonly beaconHeight: BeaconHeight } | undefined,
): Head | undefined {
  const newest = heads.findLast(({ time }) => time <= moment);
  return newest !== undefined && newest.beaconHeight > (block?.beaconHeight ?? 0) ? newest : undefined;
}

/** The reserves of a pool in a state; `undefined` if it does not exist there. */
export function reservesIn(
  { beaconHeight, exchange }: Pick<Head, 'beaconHeight' | 'exchange'>,
  pool: PoolName,
): Reserves | undefined {
  const place = placeOf(exchange.directory, pool);
  if (place === undefined) return undefined;
  const { reserves } = exchange;
  return { beaconHeight, reserve1: reserves[place * 2] ?? 0n, reserve2: reserves[place * 2 + 1] ?? 0n };
}

/**
 * Creates the function that loads something of pools. Pools of one version that are requested at the same time are read together,
 * each group at once, and each pool of a group once.
 *
 * @param groupOf what is read, without the pool itself. It contains the height of the pool.
 * @param read reads the keys of one group. @returns the values in the order of the keys
 */
export function createPoolBatches<K extends { readonly pool: PoolPair }, V>(
  groupOf: (key: K) => string,
  read: (keys: readonly K[]) => Promise<readonly V[]>,
): (key: K) => Promise<V> {
  /** The loaders of the groups, each created when it is first needed: most responses load nothing. */
  const loaders = new Map<string, DataLoader<K, V, string>>();

  return (key) => {
    const group = `${versionOf(key.pool)} ${groupOf(key)}`;
    const loader =
      loaders.get(group) ?? new DataLoader<K, V, string>(read, { cacheKeyFn: ({ pool }) => poolPairId(pool) });
    loaders.set(group, loader);
    return loader.load(key);
  };
}
