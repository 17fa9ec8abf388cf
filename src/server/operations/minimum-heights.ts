import type { GraphQLError } from 'graphql';
import { type BeaconHeight, isFarAhead, MAX_HEIGHTS_AHEAD, parseBeaconHeight } from '../../domain/beacon-height.ts';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import type { Service } from '../../graphql/context.ts';
import { countValues } from '../../graphql/execution/arguments.ts';
import { onEach, type Subscription } from '../../live/broadcast/broadcast.ts';
import type { Head } from '../../live/chain/head.ts';
import { createTurnLimit } from '../../turns/turns.ts';
import type { Metrics, MinimumHeightOutcome } from '../metrics/metrics.ts';
import { type Closing, isClosed } from '../requests/closing.ts';
import { heightNotReached, requestError } from '../requests/refusal.ts';

/** Who names a minimum height. */
export type HeightClient = {
  /** Without an address, the operation counts as a client by itself. */
  readonly address: string | undefined;
  /** Closed when the client has disconnected: the operation is not executed then, but waits as long as others. */
  readonly connection?: Closing | undefined;
  /** When the operation was received, in `performance.now()`: it waits from then on. By default, now. */
  readonly receivedAt?: number | undefined;
};

/**
 * Minimum heights: the newest height that a client has seen, also from another gateway. An operation that names one is executed
 * when the gateway has published that height. It never gets data of an older one.
 */
export type MinimumHeights = ReturnType<typeof createMinimumHeights>;

/** Maximum number of operations that wait, of all clients and of one. One more is refused. */
const MAX_WAITING = 10_000;
const MAX_WAITING_PER_CLIENT = 1_000;

/** How many values that an operation keeps in memory while it waits count as one more operation. */
const VALUES_PER_WAITING = 1_000;

/** Operations that go on in one turn of the event loop after their height was published. */
const RELEASED_PER_TURN = 16;

/** An operation that waits. */
type Waiter = { readonly height: BeaconHeight; end(outcome: MinimumHeightOutcome): void };

/**
 * Reads a minimum height: a whole number, in JSON or as text.
 *
 * @returns `undefined` for none, which 0 and null are too; an error for any other value
 */
export function readMinimumHeight(value: unknown, name: string): BeaconHeight | GraphQLError | undefined {
  if (value === undefined || value === null) return undefined;
  const height = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  if (height === 0) return undefined;
  return (
    parseBeaconHeight(height) ?? requestError(400, `${name} must be a whole number from 1 to 2^53 - 1, or 0 for none.`)
  );
}

/** Creates the minimum heights; nothing waits yet. @param timeoutMs how long an operation waits at most */
export function createMinimumHeights({ sources, configured }: Service, timeoutMs: number, metrics: Metrics) {
  const { head } = sources;
  const waiting = new Set<Waiter>();
  const waitingOf = new Map<string | undefined, number>();
  let waitingOfAll = 0;
  const released = createTurnLimit(RELEASED_PER_TURN);
  let heads: Subscription | undefined;
  let isStopped = false;

  /** What becomes of a height without waiting; `undefined` if it has to be waited for. */
  function outcomeNow(height: BeaconHeight, { address, connection }: HeightClient): MinimumHeightOutcome | undefined {
    const newest = head.current();
    if (newest !== undefined && height <= newest.beaconHeight) return 'reached';
    if (newest !== undefined && isFarAhead(height, newest)) return 'ahead';
    if (isStopped) return 'stopping';
    if (connection !== undefined && isClosed(connection)) return 'left';
    const isFull = address !== undefined && (waitingOf.get(address) ?? 0) >= MAX_WAITING_PER_CLIENT;
    return isFull || waitingOfAll >= MAX_WAITING ? 'full' : undefined;
  }

  function count(address: string | undefined, weight: number): void {
    waitingOfAll += weight;
    const sum = (waitingOf.get(address) ?? 0) + weight;
    if (sum === 0) waitingOf.delete(address);
    else waitingOf.set(address, sum);
  }

  async function wait(height: BeaconHeight, client: HeightClient, sent: unknown): Promise<MinimumHeightOutcome> {
    const { address, connection, receivedAt = performance.now() } = client;
    const { promise, resolve } = Promise.withResolvers<MinimumHeightOutcome>();
    const waiter: Waiter = { height, end: resolve };
    const weight = 1 + Math.floor(countValues(sent) / VALUES_PER_WAITING);
    const timer = setTimeout(resolve, Math.max(0, receivedAt + timeoutMs - performance.now()), 'late');
    waiting.add(waiter);
    count(address, weight);
    metrics.waitingForHeight.inc();
    // The heads are followed only while something waits.
    heads ??= onEach(head.subscribe, endReached);

    const outcome = await promise;
    clearTimeout(timer);
    waiting.delete(waiter);
    count(address, -weight);
    metrics.waitingForHeight.dec();
    if (waiting.size === 0) {
      heads?.cancel();
      heads = undefined;
    }
    if (connection !== undefined && isClosed(connection)) return 'left';
    if (outcome === 'waited') await released.wait();
    return outcome;
  }

  function endReached(newest: Head): void {
    for (const { height, end } of waiting) {
      if (height <= newest.beaconHeight) end('waited');
      else if (isFarAhead(height, newest)) end('ahead');
    }
  }

  function toRefusal(outcome: MinimumHeightOutcome, height: BeaconHeight): GraphQLError | undefined {
    metrics.minimumHeights.inc({ outcome });
    if (outcome === 'reached' || outcome === 'waited') return undefined;
    return heightNotReached(REASONS[outcome](height, timeoutMs), head.current()?.beaconHeight, outcome !== 'ahead');
  }

  return {
    /**
     * Waits until the minimum height that a client has sent is published, at most for the upstream timeout.
     *
     * @param name its header or member, for errors
     * @param sent what the client has sent, if it is kept in memory as JSON until then
     * @returns why the operation is refused
     */
    reach(value: unknown, name: string, client: HeightClient, sent?: unknown): MaybePromise<GraphQLError | undefined> {
      const height = readMinimumHeight(value, name);
      if (typeof height !== 'number') return height;
      // Without a node no response has a height, and a minimum has no effect.
      if (!configured.NODE) return undefined;
      const outcome = outcomeNow(height, client) ?? wait(height, client, sent);
      return andThen(outcome, (known) => toRefusal(known, height));
    },
    /** Refuses all that wait, and from now on all that would have to. */
    stop(): void {
      isStopped = true;
      for (const { end } of waiting) end('stopping');
    },
  };
}

/** Why an operation is refused, by the outcome. */
const REASONS: Readonly<
  Record<Exclude<MinimumHeightOutcome, 'reached' | 'waited'>, (height: BeaconHeight, timeoutMs: number) => string>
> = {
  late: (height, timeoutMs) => `The gateway did not reach the minimum height ${height} within ${timeoutMs} ms.`,
  ahead: (height) => `The minimum height ${height} is more than ${MAX_HEIGHTS_AHEAD} heights ahead of the gateway.`,
  full: (height) => `Too many operations wait for a height, so this one does not wait for ${height}.`,
  left: (height) => `The client disconnected before the gateway reached the minimum height ${height}.`,
  stopping: (height) => `The gateway is stopping, and has not reached the minimum height ${height}.`,
};
