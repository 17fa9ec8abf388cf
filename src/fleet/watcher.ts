/** What the gateways of a fleet read once, as a label of metrics. */
type FleetKind = 'head' | 'pairs' | 'tickers' | 'state' | 'order_book' | 'trades';

/**
 * How a read ended: with a value of Redis, at once or after another replica had read it; with one that this replica has read for
 * all; or alone, because Redis could not be used or another replica took too long.
 */
type ReadOutcome = 'hit' | 'waited' | 'read' | 'alone';

/** Is notified of what a gateway reads from Redis and publishes to it. */
export type FleetWatcher = {
  ended(kind: FleetKind, outcome: ReadOutcome): void;
  /** A read waited for another replica. */
  waited(kind: FleetKind, seconds: number): void;
  /** Bytes were read from Redis, or written to it. */
  moved(kind: FleetKind, direction: 'in' | 'out', bytes: number): void;
  /** A value in Redis cannot be used: it is damaged, or of another version. */
  damaged(kind: FleetKind): void;
};
