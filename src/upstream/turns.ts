import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { type Upstream, UpstreamBusyError } from '../errors.ts';

/** Lets only so much be asked of an upstream at once on behalf of clients; the rest waits for its turn. */
export type Turns = {
  /**
   * @throws UpstreamBusyError where too many wait already or the turn does not come in time, else what the call fails with
   */
  take<T>(ask: () => Promise<T>): Promise<T>;
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
  const policy = bulkhead(atOnce, waiting);

  return {
    async take(ask) {
      const { promise: tooLong, reject } = Promise.withResolvers<never>();
      const giveUp = new AbortController();
      const timer = setTimeout(() => {
        giveUp.abort();
        reject(new UpstreamBusyError(upstream));
      }, waitMs);
      const begin = () => {
        clearTimeout(timer);
        return ask();
      };
      try {
        return await Promise.race([policy.execute(begin, giveUp.signal), tooLong]);
      } catch (error) {
        throw error instanceof BulkheadRejectedError ? new UpstreamBusyError(upstream) : error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
