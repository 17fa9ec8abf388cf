import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { History } from '../history/history.ts';
import type { RecordedTrade } from '../history/trade-store.ts';
import type { Head } from '../live/chain/head.ts';
import type { VolumesOfWindow } from './traded-windows.ts';

/** What is read of the trades of all pools at a head, once for all clients. */
export type TradesAtHead = {
  /** By the hours of the window. */
  readonly volumes: ReadsAtHead<VolumesOfWindow | undefined>;
  readonly lastTrades: ReadsAtHead<ReadonlyMap<string, RecordedTrade>>;
  /** The number of reads that have ended. What had to wait before may be in memory after another one. */
  reads(): number;
};

/** Returns what was read at a head, or reads it: the first time, and after trades have been recorded. */
type ReadsAtHead<V> = (head: Head, name: number, read: () => Promise<V>) => MaybePromise<V>;

/** Windows of different lengths, and heads. */
const MAX_READS = 16;

/** Creates the reads; nothing is read yet. */
export function createTradesAtHead({ tradesVersion }: Pick<History, 'tradesVersion'>): TradesAtHead {
  let reads = 0;

  function createReads<V>(): ReadsAtHead<V> {
    type Known = { readonly head: Head; readonly version: number; value: MaybePromise<V> };
    const known = new LRUCache<string, Known>({ max: MAX_READS });

    return (head, name, read) => {
      const key = `${name} ${head.beaconHeight} ${head.hash}`;
      const version = tradesVersion();
      const found = known.get(key);
      if (found?.head === head && found.version === version) return found.value;
      const reading = read();
      const started: Known = { head, version, value: reading };
      known.set(key, started);
      reading.then(
        (value) => {
          started.value = value;
          reads += 1;
        },
        () => {
          if (known.peek(key) === started) known.delete(key);
          reads += 1;
        },
      );
      return reading;
    };
  }

  return { volumes: createReads(), lastTrades: createReads(), reads: () => reads };
}
