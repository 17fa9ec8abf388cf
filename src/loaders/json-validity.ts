import type { Instant } from '../domain/instant.ts';
import type { Dependencies, HistoryUse } from './dependencies.ts';

/** What a JSON text depends on that was written for one answer and is part of others. */
export type JsonValidity = {
  /** They include the pairs and tickers. */
  readonly dependencies: Dependencies;
  /** Whether the newest head is among them, as for an earlier pool that shows its current price. */
  readonly usesHead: boolean;
  /** What of the history is among them; `undefined` if nothing is. */
  readonly historyUse: HistoryUse | undefined;
};

/**
 * The earlier of two validities, if it is current and the same as the later one. An answer then checks once what it has to
 * check of all texts with the same validity.
 *
 * @param later the validity of a text that was written now
 */
export function shareValidity(earlier: JsonValidity | undefined, later: JsonValidity, now: Instant): JsonValidity {
  return earlier?.dependencies.areCurrent(now) && areSame(earlier, later) ? earlier : later;
}

function areSame(a: JsonValidity, b: JsonValidity): boolean {
  return (
    a.usesHead === b.usesHead &&
    a.historyUse?.version === b.historyUse?.version &&
    a.historyUse?.fills === b.historyUse?.fills &&
    a.dependencies.expiresAt() === b.dependencies.expiresAt()
  );
}
