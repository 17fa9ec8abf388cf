import DataLoader from 'dataloader';
import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import { placeOf, versionOf } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { type PoolName, type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import type { Reserves } from '../domain/reserves.ts';
import type { Head } from '../live/chain/head.ts';
import { createKnownTrades } from './known-trades.ts';
import type { ResponseInputs } from './token.ts';

/** What the loaders of candles, price changes, sparklines and trades of one response read from. */
export type HistoryView = ReturnType<typeof createHistoryView>;

/** Creates the view that one response has of the recorded history and of the heads in memory, and notes what can change it. */
export function createHistoryView({ sources, head, dependencies, tokens, options }: ResponseInputs) {
  const { history, historyQueue, head: follower } = sources;

  // A height is recorded with each new one. Older ones can come at any time.
  const expectedUntil = () => (history.isBackfilling() ? undefined : follower.nextAt());

  /** Notes on which version of something the response depends, after it was read. */
  function createNote(current: () => number) {
    let noted: number | undefined;

    function depend(version = current()): void {
      if (noted === version) return;
      // A response that has read two versions is not valid, and contains no text of the second one.
      noted ??= version;
      dependencies.dependOn(current, version, expectedUntil);
    }

    return {
      depend,
      /** The version on which the response depends; `undefined` if it depends on none. */
      noted: () => noted,
      /** Whether a text that depends on a version can be part of the response, which then depends on it too. */
      canInclude(version: number): boolean {
        depend();
        return noted === version;
      },
    };
  }

  /** The head of the response, if it is the block of a pool. */
  function headAt({ beaconHeight }: PoolPair): Head | undefined {
    const pinned = head.currentFor(beaconHeight);
    return pinned?.beaconHeight === beaconHeight ? pinned : undefined;
  }

  /** Reads from the history. The read waits in the queue of the history for this operation. @throws HistoryUnavailableError */
  function read<T>(operation: () => Promise<T>): Promise<T> {
    return historyQueue.queue(operation).wait(options.requester);
  }

  /**
   * The heads in memory up to the height of a pool, ascending, all of the branch of the response's head. Heads of the other
   * version of the exchange do not show the pool, and are left out.
   */
  function headsOf(pool: PoolPair): readonly Head[] {
    const version = versionOf(pool);
    return headsUpTo(pool.beaconHeight).filter(({ exchange }) => versionOf(exchange) === version);
  }

  function headsUpTo(height: BeaconHeight): readonly Head[] {
    const pinned = head.currentFor(height);
    const inMemory = history.headsInMemory().filter(({ beaconHeight }) => beaconHeight <= height);
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

  return {
    history,
    cache: sources.historyCache,
    tokens,
    options,
    read,
    headAt,
    headsOf,
    readKnownTrades: createKnownTrades({ headsOf, read }, { sources, options }),
    versions: {
      /** The response may be different after anything else has been recorded. */
      recorded: createNote(history.version),
      /** It may be different after the trades of a block have been recorded. */
      trades: createNote(history.tradesVersion),
    },
    /** When the block of a pool was made; `undefined` if the node does not report it. */
    timeOf: (pool: PoolPair): Instant | undefined => pool.time ?? headAt(pool)?.time,
    /** The height of the response's head, or this height if it is above. */
    tipFrom: (height: BeaconHeight): BeaconHeight => Math.max(height, head.currentFor(height)?.beaconHeight ?? 0),
  };
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

/** Pools of one version and height. */
export type PoolsAtHeight = readonly [PoolPair, ...PoolPair[]];

/**
 * Creates the function that loads something of pools. Pools of one version and height that are requested at the same time with the
 * same arguments are read together, and each of them once.
 *
 * @param read reads pools. @returns the values in their order
 * @param nameOf the same text for arguments that mean the same; by default, their JSON
 */
export function createPoolBatches<Args, V>(
  read: (pools: PoolsAtHeight, args: Args) => Promise<readonly V[]>,
  nameOf: (args: Args) => string = (args) => JSON.stringify(args),
): (pool: PoolPair, args: Args) => Promise<V> {
  /** The loaders of the groups, each created when it is first needed: most responses load nothing. */
  const loaders = new Map<string, DataLoader<PoolPair, V, string>>();

  return (pool, args) => {
    const group = `${versionOf(pool)} ${pool.beaconHeight} ${nameOf(args)}`;
    const readGroup = (pools: readonly PoolPair[]) => read(pools as [PoolPair], args);
    const loader = loaders.get(group) ?? new DataLoader(readGroup, { cacheKeyFn: poolPairId });
    loaders.set(group, loader);
    return loader.load(pool);
  };
}
