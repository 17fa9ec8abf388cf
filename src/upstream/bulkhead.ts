import { type Upstream, UpstreamBusyError } from '../errors.ts';
import { createFairQueue, type Requester } from './fair-queue.ts';

/** Lets only so much be asked of an upstream at once on behalf of clients; the rest waits, and all requesters come in turn. */
export type Bulkhead = {
  /** Makes the turn of one call. It begins when its time has come in the lane of anyone who waits for it. */
  queue<T>(call: () => Promise<T>): QueuedCall<T>;
};

/** One call to an upstream, which several requesters can wait for together. */
export type QueuedCall<T> = {
  /**
   * Waits for the call in the lane of an requester, and for its answer.
   *
   * @throws UpstreamBusyError where the requester has waited for too long or makes others wait the most, else what the call
   *   fails with
   */
  wait(requester: Requester): Promise<T>;
  /** The answer, once someone has waited for it: fails with an UpstreamBusyError where nobody waits for it any more. */
  readonly answer: Promise<T>;
};

/** How much is asked at once, how much may wait, and for how long. */
export type BulkheadOptions = {
  readonly atOnce: number;
  readonly waiting: number;
  /** Who has waited for longer would get the answer when nobody waits for it any more. */
  readonly waitMs: number;
};

/** Makes the turns of one upstream. What follows the chain and the market does not wait for one. */
export function createBulkhead(upstream: Upstream, { atOnce, waiting, waitMs }: BulkheadOptions): Bulkhead {
  const queue = createFairQueue<Waiting>();
  let underWay = 0;

  function end(): void {
    underWay -= 1;
    queue.next()?.begin();
  }

  function turnOf<T>(call: () => Promise<T>): QueuedCall<T> {
    const { promise: answer, resolve, reject } = Promise.withResolvers<T>();
    const timers = new Set<NodeJS.Timeout>();
    let isDecided = false;

    function decide(): void {
      isDecided = true;
      for (const timer of timers) clearTimeout(timer);
    }

    const turn: Waiting = {
      begin() {
        decide();
        underWay += 1;
        call().then(resolve, reject).finally(end);
      },
      refuse() {
        decide();
        queue.remove(turn);
        reject(new UpstreamBusyError(upstream));
      },
    };

    function wait(requester: Requester): Promise<T> {
      if (!isDecided && underWay < atOnce) turn.begin();
      if (isDecided) return answer;

      queue.add(turn, requester);
      if (queue.size() > waiting) queue.mostDispensable()?.refuse();
      return isDecided ? answer : Promise.race([answer, tooLong(requester)]);
    }

    /** Refuses one requester when its time is over; others who wait for the call may have come later. */
    function tooLong(requester: Requester): Promise<never> {
      return new Promise((_, giveUp) => {
        const timer = setTimeout(() => {
          queue.leave(turn, requester);
          giveUp(new UpstreamBusyError(upstream));
          if (!queue.has(turn)) turn.refuse();
        }, waitMs);
        timers.add(timer);
      });
    }

    return { wait, answer };
  }

  return { queue: turnOf };
}

/** A call that waits, until one or the other is done to it. */
type Waiting = { begin(): void; refuse(): void };
