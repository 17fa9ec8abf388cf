import { canBeHead, isFarAhead } from '../../domain/beacon-height.ts';
import { drain, fullBucket, msUntilAvailable, refill } from '../../domain/token-bucket.ts';
import type { PushedBlock } from '../../upstream/node/push-session.ts';
import type { Head } from './head.ts';

/** What of a block that was pushed decides whether to poll. */
type NamedBlock = Pick<PushedBlock, 'height' | 'hash'>;

/** While nodes push their blocks, polling only finds what a frame has missed. */
const PUSHED_POLL_MS = 10_000;

/**
 * Number of polls that frames can start in a row. Afterwards, they start one in each poll interval. A node that is syncing pushes
 * many blocks a second: then the tips are polled as often as without push.
 */
const POLLS_AT_ONCE = 5;

/**
 * A node can push a block before its API has it. Then the tips are polled again after these times, and in each poll interval
 * afterwards.
 */
const AGAIN_MS = [50, 100, 200, 400, 800];

/** Number of heads that no frame announced after which the polls no longer rely on frames, until a frame announces one. */
const SILENT_HEADS = 2;

/**
 * Creates the schedule of the polls of the tips. Without websockets, each interval is `pollMs`. A block that a node pushes is a reason
 * to poll now, never a head by itself.
 */
export function createPollSchedule(pollMs: number) {
  const rate = { pointsPerSecond: 1_000 / pollMs, burst: POLLS_AT_ONCE };
  let bucket = fullBucket(rate, performance.now());
  let pollNow = (): boolean => false;
  let served: Pick<Head, 'beaconHeight' | 'hash'> | undefined;
  let openSockets = 0;
  /** Whether the last poll failed. */
  let isFailing = false;
  /** A block above the served one or in its place, and how often the tips were polled again for it. */
  let awaited: (NamedBlock & { polls: number }) | undefined;
  /** The newest block that was pushed during a poll, which may have begun before the node had it. */
  let pushedMeanwhile: NamedBlock | undefined;
  let isAnnounced = false;
  let silentHeads = 0;

  /** Whether a frame may start a poll now. */
  function hasPoll(): boolean {
    bucket = refill(bucket, rate, performance.now());
    return msUntilAvailable(bucket, rate, 1) === 0;
  }

  /** Takes one of the polls that frames may start. @returns whether there was one */
  function takePoll(): boolean {
    if (!hasPoll()) return false;
    bucket = drain(bucket, 1);
    return true;
  }

  /** Polls now, if the rate allows it. If not, the next poll is `pollMs` after the last one at the latest. */
  function pollSoon(block?: NamedBlock): void {
    if (takePoll() && !pollNow()) pushedMeanwhile = block ?? pushedMeanwhile;
  }

  function isNews({ height, hash }: NamedBlock): boolean {
    const { beaconHeight = 0, hash: servedHash } = served ?? {};
    return height > beaconHeight || (height === beaconHeight && hash !== servedHash);
  }

  /** @returns when to poll again for a block that was pushed and is not served yet; `undefined` if there is none */
  function againMs(): number | undefined {
    const isDue = pushedMeanwhile !== undefined && isNews(pushedMeanwhile);
    pushedMeanwhile = undefined;
    if (isDue) return 0;
    if (awaited === undefined || !isNews(awaited)) return undefined;
    const pauseMs = AGAIN_MS[awaited.polls];
    awaited.polls += 1;
    return pauseMs !== undefined && takePoll() ? Math.min(pauseMs, pollMs) : pollMs;
  }

  /** The interval without blocks that were pushed. */
  function usualMs(): number {
    const isRelied = openSockets > 0 && !isFailing && silentHeads < SILENT_HEADS && hasPoll();
    return isRelied ? Math.max(PUSHED_POLL_MS, pollMs) : pollMs;
  }

  return {
    /** The time from the end of a poll to the start of the next one. Called at the end of each poll, with whether it failed. */
    intervalMs(hasFailed: boolean): number {
      isFailing = hasFailed;
      return againMs() ?? usualMs();
    },
    usualMs,
    /** Names a block that was pushed and is not served yet; `undefined` if there is none. */
    awaited: (): string | undefined =>
      awaited !== undefined && isNews(awaited) ? `${awaited.height}:${awaited.hash}` : undefined,
    /** A head is served from now on. */
    published(head: Pick<Head, 'beaconHeight' | 'hash'>): void {
      served = head;
      if (awaited !== undefined && isFarAhead(awaited.height, head)) awaited = undefined;
      silentHeads = isAnnounced || openSockets === 0 ? 0 : silentHeads + 1;
      isAnnounced = false;
    },
    /** Calls a function when a frame is a reason to poll. It polls now, unless a poll is in progress, and returns whether it does. */
    onDue(poll: () => boolean): void {
      pollNow = poll;
    },
    /** What the websockets of the nodes report. */
    push: {
      /** A node has pushed a block. */
      received(block: NamedBlock): void {
        const isExpected = canBeHead(block.height, served);
        // A node that is behind, or of another chain, announces no head.
        if (isExpected) {
          isAnnounced = true;
          silentHeads = 0;
        }
        if (!isNews(block)) return;
        const highest = Math.max(served?.beaconHeight ?? 0, awaited?.height ?? 0);
        const isInPlace = block.height === highest && block.hash !== awaited?.hash;
        if (isExpected && (block.height > highest || isInPlace)) awaited = { ...block, polls: 0 };
        pollSoon(block);
      },
      /** A websocket has opened or closed: blocks may have been missed. While at least one is open, polls are rarer. */
      changed(isOpen: boolean): void {
        openSockets += isOpen ? 1 : -1;
        pollSoon();
      },
    },
  };
}
