import { AsyncLocalStorage } from 'node:async_hooks';
import { createFairQueue, type Requester } from './fair-queue.ts';

/** Limits the calls to an upstream, or the reads of the history, that clients cause. The others wait in a fair queue. */
export type Bulkhead = ReturnType<typeof createBulkhead>;

/** One call, which several operations can wait for together. */
export type QueuedCall<T> = {
  /**
   * Waits for the response on behalf of an operation, in its queue if there is no room.
   *
   * @throws the error `busy` if the operation waited in the queue for too long, or the queue is full and its client has the
   *   most calls in it; else the error of the call
   */
  wait(requester: Requester): Promise<T>;
  /** The response, once an operation waits for it. Fails with the error `busy` if none waits for it any more. */
  readonly response: Promise<T>;
};

type BulkheadOptions = {
  /** Creates the error of a call that is refused. */
  readonly busy: () => Error;
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  /** A call that waited for longer would end when its client has stopped waiting. */
  readonly maxWaitMs: number;
};

/** Creates a bulkhead. Calls that follow the chain and the market, or record the history, do not pass it. */
export function createBulkhead({ busy, maxConcurrent, maxQueued, maxWaitMs }: BulkheadOptions) {
  const queue = createFairQueue<Waiting>();
  let running = 0;

  function end(): void {
    running -= 1;
    queue.next()?.begin();
  }

  /** Prepares a call. It begins when there is room and it is due for any operation that waits for it. */
  function prepare<T>(call: () => Promise<T>): QueuedCall<T> {
    const { promise: response, resolve, reject } = Promise.withResolvers<T>();
    // The end of another operation's call may begin this one. Then it is released, so that no cached response refers to its context.
    let callInContext: typeof call | undefined = AsyncLocalStorage.bind(call);
    const timers = new Set<NodeJS.Timeout>();
    /** Whether the call has begun or was refused. */
    let isDecided = false;

    function decide(): void {
      isDecided = true;
      for (const timer of timers) clearTimeout(timer);
    }

    const waiting: Waiting = {
      begin() {
        decide();
        running += 1;
        callInContext?.().then(resolve, reject).finally(end);
        callInContext = undefined;
      },
      refuse() {
        decide();
        queue.remove(waiting);
        reject(busy());
      },
    };

    function wait(requester: Requester): Promise<T> {
      if (!isDecided && running < maxConcurrent) waiting.begin();
      if (isDecided) return response;

      queue.add(waiting, requester);
      if (queue.size() > maxQueued) queue.itemToRefuse()?.refuse();
      return isDecided ? response : Promise.race([response, timeout(requester)]);
    }

    /** Refuses one operation when its time is over. Others that wait for the call may have come later. */
    function timeout(requester: Requester): Promise<never> {
      return new Promise((_, fail) => {
        const timer = setTimeout(() => {
          queue.leave(waiting, requester);
          fail(busy());
          if (!queue.has(waiting)) waiting.refuse();
        }, maxWaitMs);
        timers.add(timer);
      });
    }

    return { wait, response };
  }

  /** Whether calls wait, or half of those that may run at once are running: calls that nobody waits for should come later. */
  function isBusy(): boolean {
    return queue.size() > 0 || running >= Math.ceil(maxConcurrent / 2);
  }

  return { queue: prepare, isBusy };
}

/** A call that waits until one of these is done. */
type Waiting = { begin(): void; refuse(): void };
