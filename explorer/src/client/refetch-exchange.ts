import { type CombinedError, type Exchange, makeOperation, type Operation, type OperationResult } from '@urql/core';
import { map, pipe, tap } from 'wonka';
import { isRetryable, readErrors, waitOf } from './errors.ts';

type RefetchOptions = {
  /** Calls a listener each time that the gateway can be reached again. @returns a function that ends it */
  readonly onRestored: (listener: () => void) => () => void;
  readonly random?: () => number;
};

const FIRST_RETRY_MS = 3_000;
const LONGEST_RETRY_MS = 60_000;

/** A query on the screen. */
type Shown = {
  operation: Operation;
  /** How often it has failed since it last succeeded. */
  failures: number;
  timer?: ReturnType<typeof setTimeout>;
  /** The data of the last answer that had any. */
  data?: unknown;
  /** The error of the last answer. */
  error?: CombinedError | undefined;
};

/**
 * Sends the queries of what is on the screen again: all of them after an outage, and one that failed for a reason that passes
 * after a while. Until then, what was there stays. A query that nobody shows any longer is not sent.
 */
export function createRefetchExchange({ onRestored, random = Math.random }: RefetchOptions) {
  /** The queries on the screen, by their keys. */
  const shown = new Map<number, Shown>();
  let refetch: (operation: Operation) => void = () => {};

  const endRestored = onRestored(() => {
    for (const { operation } of shown.values()) refetch(operation);
  });

  function show(operation: Operation): void {
    if (operation.kind === 'query') shown.set(operation.key, { failures: 0, ...shown.get(operation.key), operation });
    if (operation.kind !== 'teardown') return;
    clearTimeout(shown.get(operation.key)?.timer);
    shown.delete(operation.key);
  }

  function retryLater({ operation, error, stale }: OperationResult): void {
    const entry = shown.get(operation.key);
    // The cache repeats answers, also without their errors: only a response of the gateway counts, and each error once.
    const isOfCache = operation.context.meta?.cacheOutcome === 'hit';
    if (entry === undefined || stale || isOfCache || (error !== undefined && error === entry.error)) return;
    entry.error = error;
    const errors = readErrors(error).filter(isRetryable);
    if (errors.length === 0) {
      entry.failures = 0;
      return;
    }
    const backOff = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** entry.failures);
    entry.failures += 1;
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => refetch(operation), waitOf(errors) + backOff * (0.5 + random() / 2));
  }

  function keepData(result: OperationResult): OperationResult {
    const entry = shown.get(result.operation.key);
    if (entry === undefined) return result;
    entry.data = result.data ?? entry.data;
    return result.data == null && entry.data != null ? { ...result, data: entry.data } : result;
  }

  const exchange: Exchange =
    ({ forward, client }) =>
    (operations) => {
      refetch = (operation) =>
        client.reexecuteOperation(
          makeOperation('query', operation, { ...operation.context, requestPolicy: 'network-only' }),
        );
      return pipe(operations, tap(show), forward, map(keepData), tap(retryLater));
    };

  return {
    exchange,
    dispose() {
      endRestored();
      for (const { timer } of shown.values()) clearTimeout(timer);
      shown.clear();
    },
  };
}
