import type { NodeClient } from '../../upstream/node/client.ts';

/** Remembers which nodes could not be read, so that another is asked first. */
export type Doubts = {
  /**
   * A node is doubted from now on, or still, and longer.
   *
   * @param error what it failed with; `undefined` where another was quicker, and that is all
   */
  add(node: NodeClient, error: unknown): void;
  /** A node was read whole: it is believed again. */
  clear(node: NodeClient): void;
  has(node: NodeClient): boolean;
  /** Whether a doubted node may be tried once more. */
  mayTry(node: NodeClient): boolean;
  /** What a doubted node failed with; `undefined` for one that was only slow. */
  reason(node: NodeClient): unknown;
};

type Doubt = { readonly times: number; readonly until: number; readonly error: unknown };

const DOUBLINGS = 5;

/** Makes doubts that keep from trying a node for longer each time, up to so long. */
export function createDoubts(maxPauseMs: number): Doubts {
  const doubts = new Map<NodeClient, Doubt>();

  return {
    add(node, error) {
      const known = doubts.get(node);
      // Calls that fail at the same time are one reason, not many.
      if (known !== undefined && performance.now() < known.until) {
        doubts.set(node, { ...known, error: known.error ?? error });
        return;
      }
      const times = (known?.times ?? 0) + 1;
      const pauseMs = maxPauseMs / 2 ** Math.max(0, DOUBLINGS + 1 - times);
      doubts.set(node, { times, until: performance.now() + pauseMs * (0.5 + Math.random() / 2), error });
    },
    clear: (node) => void doubts.delete(node),
    has: (node) => doubts.has(node),
    mayTry: (node) => performance.now() >= (doubts.get(node)?.until ?? 0),
    reason: (node) => doubts.get(node)?.error,
  };
}
