import { BulkheadRejectedError, bulkhead } from 'cockatiel';
import { type ErrorDetails, type Upstream, UpstreamBusyError, UpstreamTimeoutError } from '../errors.ts';

/** Lets only so much be asked of an upstream at once on behalf of clients; the rest waits for its turn. */
export type Turns = {
  /**
   * @throws UpstreamBusyError where too many wait already, UpstreamTimeoutError where the turn or the answer does not come
   *   in time, else what the call fails with
   */
  take<T>(ask: () => Promise<T>): Promise<T>;
};

/** How much is asked at once, how much may wait, and how long all of it may take. */
export type TurnsOptions = {
  readonly atOnce: number;
  readonly waiting: number;
  readonly timeoutMs: number;
  /** What the log is told of an answer that does not come in time: whose it would have been. */
  readonly details?: ErrorDetails;
};

/** Makes the turns of one upstream. What follows the chain and the market does not wait for one. */
export function createTurns(upstream: Upstream, options: TurnsOptions): Turns {
  const { atOnce, waiting, timeoutMs, details = {} } = options;
  const policy = bulkhead(atOnce, waiting);

  return {
    async take(ask) {
      const { promise: late, reject } = Promise.withResolvers<never>();
      const over = new AbortController();
      const timer = setTimeout(() => {
        over.abort();
        reject(new UpstreamTimeoutError(upstream, timeoutMs, details));
      }, timeoutMs);
      try {
        return await Promise.race([policy.execute(ask, over.signal), late]);
      } catch (error) {
        throw error instanceof BulkheadRejectedError ? new UpstreamBusyError(upstream) : error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
