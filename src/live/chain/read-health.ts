import { createBackOff } from '../../upstream/circuit.ts';

/**
 * Whether reads of one kind from a node succeed. The circuit breaker of its host covers a host that does not respond. This
 * covers a node that responds, also with its tip, and fails to give a state.
 */
export type ReadHealth = {
  /** The node was read: it is well again. */
  succeeded(): void;
  /** A read failed: the node is paused, for longer each time. Reads that fail during a pause are part of one failure. */
  failed(error: unknown): void;
  /** Another node that was called later responded first. The node is paused in the same way, without an error. */
  overtaken(): void;
  /** Whether the last read neither failed nor was overtaken. */
  isWell(): boolean;
  /** Whether other nodes should be called first. */
  isPaused(): boolean;
  /** What the reads since the last success failed with; `undefined` if the node was only slow. */
  lastError(): unknown;
};

/** Starts with a node that is well. Its pauses grow up to the longest. */
export function createReadHealth(maxPauseMs: number): ReadHealth {
  const backOff = createBackOff(maxPauseMs);
  let pause: ReturnType<typeof backOff.next> | undefined;
  let pausedUntil = 0;
  let lastError: unknown;

  const isPaused = () => performance.now() < pausedUntil;

  function noteFailure(error: unknown): void {
    if (isPaused()) {
      lastError ??= error;
      return;
    }
    pause = pause === undefined ? backOff.next() : pause.next(undefined);
    pausedUntil = performance.now() + pause.duration;
    lastError = error;
  }

  return {
    succeeded() {
      pause = undefined;
      pausedUntil = 0;
      lastError = undefined;
    },
    failed: noteFailure,
    overtaken: () => noteFailure(undefined),
    isWell: () => pause === undefined,
    isPaused,
    lastError: () => lastError,
  };
}
