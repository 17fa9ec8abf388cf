import { LRUCache } from 'lru-cache';
import { type BeaconHeight, isFinal, type TimedHeight } from '../domain/beacon-height.ts';
import { ancestors } from '../domain/chain.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { HeightNotAvailableError, UpstreamBadShapeError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { History } from './history.ts';

/** Finds blocks by the times at which they were made. */
export type BlockTimes = ReturnType<typeof createBlockTimes>;

/** Reads the state at a height below a head on behalf of a client. @throws HeightNotAvailableError, UpstreamError */
export type ReadStateAt = (height: BeaconHeight, head: Head) => Promise<ExchangeState>;

/** Calls a function when it is the turn of a client. */
type Queue = <T>(read: () => Promise<T>) => Promise<T>;

/** Times of final blocks that are remembered, because the searches of many clients begin at the same heights. */
const MAX_TIMES = 2_000;

/** Creates the search over the recorded history and, where it has gaps, the states of the nodes. */
export function createBlockTimes(history: Pick<History, 'blocksAt' | 'headsInMemory'>) {
  /** Of final heights. */
  const times = new LRUCache<BeaconHeight, Instant>({ max: MAX_TIMES });

  /** @returns `undefined` if the nodes have pruned the height */
  async function timeOf(height: BeaconHeight, head: Head, read: ReadStateAt): Promise<Instant | undefined> {
    const known = times.get(height);
    if (known !== undefined) return known;
    const state = await read(height, head).catch((error: unknown) => {
      if (error instanceof HeightNotAvailableError) return undefined;
      throw error;
    });
    if (state === undefined) return undefined;
    const { time } = state;
    if (time === undefined) throw new UpstreamBadShapeError('NODE', 'its exchange states have no time');
    if (isFinal(height, head.beaconHeight)) times.set(height, time);
    return time;
  }

  /** The nearest known blocks at or before a time, and after it. A database that cannot be read only costs more reads. */
  async function nearest(
    time: Instant,
    head: Head,
    queue: Queue,
  ): Promise<{ below: TimedHeight | undefined; above: TimedHeight }> {
    const [recorded] = await queue(() => history.blocksAt([time])).catch(() => []);
    const blocks: TimedHeight[] = [...ancestors(head, history.headsInMemory())];
    for (const block of [recorded?.block, recorded?.next]) if (block !== undefined) blocks.push(block);
    for (const [beaconHeight, time] of times) blocks.push({ beaconHeight, time });

    const ofChain = blocks.filter(({ beaconHeight }) => beaconHeight <= head.beaconHeight);
    ofChain.sort((a, b) => a.beaconHeight - b.beaconHeight);
    const below = ofChain.findLast((block) => block.time <= time);
    return { below, above: ofChain.find((block) => block.time > time) ?? head };
  }

  return {
    /**
     * The newest height whose block was made at or before a time; `undefined` if that was before the first block that the nodes
     * still have.
     *
     * @param head the newest block that counts
     * @param queue waits for the turn of the client before the history is read
     * @throws HeightNotAvailableError if the nodes have pruned heights that decide, UpstreamError
     */
    async heightAt(time: Instant, head: Head, read: ReadStateAt, queue: Queue): Promise<BeaconHeight | undefined> {
      if (time >= head.time) return head.beaconHeight;
      let { below, above } = await nearest(time, head, queue);
      /** The highest height that is known to be pruned, if it is above `below`. */
      let prunedTo = 0;

      for (let reads = 0; above.beaconHeight - Math.max(below?.beaconHeight ?? 0, prunedTo) > 1; reads++) {
        const height = nextHeight({ time, below, above, prunedTo, head, isEven: reads % 2 === 0 });
        const found = await timeOf(height, head, read);
        if (found === undefined) prunedTo = height;
        else if (found <= time) below = { beaconHeight: height, time: found };
        else above = { beaconHeight: height, time: found };
      }
      if (prunedTo > (below?.beaconHeight ?? 0) && below !== undefined)
        throw new HeightNotAvailableError(prunedTo, head.beaconHeight);
      return below?.beaconHeight;
    },
  };
}

/** The usual time between two blocks, for the first estimate below the lowest known block. */
const USUAL_INTERVAL_MS = 40_000;

/** The first step down from the lowest known block in the search for the lowest retained height. The next ones are longer. */
const FIRST_STEP = 64;

type Search = {
  readonly time: Instant;
  readonly below: TimedHeight | undefined;
  readonly above: TimedHeight;
  readonly prunedTo: BeaconHeight;
  readonly head: Head;
  readonly isEven: boolean;
};

/**
 * The height that is read next, strictly between what is known below and above: the one at which the time is expected, and
 * every second time the middle. If only pruned heights are known below, it stays near the known ones: a node may limit the
 * errors with which it responds for pruned heights.
 */
function nextHeight({ time, below, above, prunedTo, head, isEven }: Search): BeaconHeight {
  const lowest = Math.max(below?.beaconHeight ?? 0, prunedTo);
  const expected = above.beaconHeight - Math.ceil((above.time - time) / intervalOf(below, above, head));
  const between = (height: BeaconHeight) => Math.min(Math.max(height, lowest + 1), above.beaconHeight - 1);
  if (lowest !== prunedTo || prunedTo === 0)
    return between(isEven ? expected : Math.floor((lowest + above.beaconHeight) / 2));

  if (isEven && expected > prunedTo + 1) return between(expected);
  const step = above.beaconHeight - Math.max(FIRST_STEP, 2 * (head.beaconHeight - above.beaconHeight));
  return between(step > prunedTo ? step : above.beaconHeight - Math.ceil((above.beaconHeight - prunedTo) / 4));
}

/** The usual time between two blocks, by the known ones. */
function intervalOf(below: TimedHeight | undefined, above: TimedHeight, head: Head): number {
  if (below !== undefined) return (above.time - below.time) / (above.beaconHeight - below.beaconHeight) || 1;
  const heights = head.beaconHeight - above.beaconHeight;
  return (heights === 0 ? 0 : (head.time - above.time) / heights) || USUAL_INTERVAL_MS;
}
