import { type Upstream, UpstreamBusyError } from '../errors.ts';
import { type Asker, createFairQueue } from './fair-queue.ts';

/** Lets only so much be asked of an upstream at once on behalf of clients; the rest waits, and all askers come in turn. */
export type Turns = {
  /** Makes the turn of one call. It begins when its time has come in the lane of anyone who waits for it. */
  for<T>(call: () => Promise<T>): Turn<T>;
};

/** One call to an upstream, which several askers can wait for together. */
export type Turn<T> = {
  /**
   * Waits for the call in the lane of an asker, and for its answer.
   *
   * @throws UpstreamBusyError where the asker has waited for too long or makes others wait the most, else what the call
   *   fails with
   */
  wait(asker: Asker): Promise<T>;
  /** The answer, once someone has waited for it: fails with an UpstreamBusyError where nobody waits for it any more. */
  readonly answer: Promise<T>;
};

/** How much is asked at once, how much may wait, and for how long. */
export type TurnsOptions = {
  readonly atOnce: number;
  readonly waiting: number;
  /** Who has waited for longer would get the answer when nobody waits for it any more. */
  readonly waitMs: number;
};

/** Makes the turns of one upstream. What follows the chain and the market does not wait for one. */
export function createTurns(upstream: Upstream, { atOnce, waiting, waitMs }: TurnsOptions): Turns {
  const queue = createFairQueue<Waiting>();
  let underWay = 0;

  function end(): void {
    underWay -= 1;
    queue.next()?.begin();
  }

  function turnOf<T>(call: () => Promise<T>): Turn<T> {
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

    function wait(asker: Asker): Promise<T> {
      if (!isDecided && underWay < atOnce) turn.begin();
      if (isDecided) return answer;

      queue.add(turn, asker);
      if (queue.size() > waiting) queue.mostDispensable()?.refuse();
      return isDecided ? answer : Promise.race([answer, tooLong(asker)]);
    }

    /** Refuses one asker when its time is over; others who wait for the call may have come later. */
    function tooLong(asker: Asker): Promise<never> {
      return new Promise((_, giveUp) => {
        const timer = setTimeout(() => {
          queue.leave(turn, asker);
          giveUp(new UpstreamBusyError(upstream));
          if (!queue.has(turn)) turn.refuse();
        }, waitMs);
        timers.add(timer);
      });
    }

    return { wait, answer };
  }

  return { for: turnOf };
}

/** A call that waits, until one or the other is done to it. */
type Waiting = { begin(): void; refuse(): void };
