import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import { UpstreamBadShapeError } from '../errors.ts';
import { ancestors } from '../history/branches.ts';
import type { BesideMemory, RecordedTrade, TradedHeight } from '../history/trade-store.ts';
import type { Head } from '../live/chain/head.ts';
import type { HeadTrades } from '../live/chain/head-trades.ts';

/** A block of a head in memory. Its trades are in the order of the block, and `undefined` if they cannot be read. */
export type BlockInMemory = TradedHeight & { readonly trades: readonly RecordedTrade[] | undefined };

/** A result of the database, and the blocks in memory, ascending, that it does not contain. */
export type KnownTrades<T> = BesideMemory<T> & { readonly blocks: readonly BlockInMemory[] };

/**
 * Reads something of the recorded trades up to the height of a pool, and the trades of the blocks that are not recorded. No block is in
 * both. The blocks in memory are those of the branch of the response's head.
 *
 * @param query reads the database, for the heights that are in memory from this one on
 * @param options.isNeeded selects the blocks in memory
 * @param options.isNewestNeeded whether the block at the height of the pool must be known; true by default
 * @throws HistoryUnavailableError, UpstreamError if the trades of a block that must be known cannot be read
 */
export type ReadKnownTrades = <T>(
  pool: PoolPair,
  query: (memoryFrom: BeaconHeight) => Promise<BesideMemory<T>>,
  options?: { readonly isNeeded?: (block: TradedHeight) => boolean; readonly isNewestNeeded?: boolean },
) => Promise<KnownTrades<T>>;

/** Creates the function of one response. */
export function createKnownTrades(
  view: { headsOf(pool: PoolPair): readonly Head[]; read<T>(operation: () => Promise<T>): Promise<T> },
  trades: Pick<HeadTrades, 'of'>,
): ReadKnownTrades {
  return async (pool, query, { isNeeded = () => true, isNewestNeeded = true } = {}) => {
    // Before the database is read: it says which of them it contains.
    const heads = linked(view.headsOf(pool));
    const memoryFrom = heads[0]?.beaconHeight ?? pool.beaconHeight + 1;
    const found = await view.read(() => query(memoryFrom));
    const rest = heads.filter((head) => !found.recorded.has(head.beaconHeight) && isNeeded(head));
    const blocks = rest.map(async (head): Promise<BlockInMemory> => {
      const { beaconHeight, time } = head;
      const reading = readTradesOf(head, trades);
      if (isNewestNeeded && beaconHeight === pool.beaconHeight) return { beaconHeight, time, trades: await reading };
      return { beaconHeight, time, trades: await reading.catch(() => undefined) };
    });
    return { ...found, blocks: await Promise.all(blocks) };
  };
}

/**
 * The newest head, and those that are surely below it on its chain, ascending. A head below a height that was skipped can be one that was
 * replaced: its trades count once they are recorded.
 */
function linked(heads: readonly Head[]): readonly Head[] {
  const newest = heads.at(-1);
  return newest === undefined ? [] : ancestors(newest, heads).toReversed();
}

/** The trades of the block of a head, in their order. @throws UpstreamError if the block, or one of its trades, cannot be read */
export async function readTradesOf(head: Head, trades: Pick<HeadTrades, 'of'>): Promise<readonly RecordedTrade[]> {
  const { beaconHeight, time } = head;
  const block = await trades.of(head);
  if (!block.isComplete) throw new UpstreamBadShapeError('NODE', 'a trade of the block cannot be decoded');
  return block.trades.map((trade, place) => ({ ...trade, beaconHeight, time, place }));
}
