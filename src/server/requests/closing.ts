import { setTimeout as sleep } from 'node:timers/promises';

/** A response, a connection or a websocket, which emits `close` once. */
export type Closing = {
  readonly closed?: boolean;
  /** The stream of a response over HTTP/2, which does not know itself that it is closed. */
  readonly stream?: { readonly closed: boolean };
  once(event: 'close', listener: () => void): unknown;
};

/** Whether something has emitted `close`. Code that ran before the gateway may have waited until the client was gone. */
export function isClosed({ closed, stream }: Closing): boolean {
  return closed ?? stream?.closed ?? false;
}

/** Calls a listener when something closes, or at once if it is closed: it does not emit `close` again. */
export function whenClosed(closing: Closing, listener: () => void): void {
  if (isClosed(closing)) listener();
  else closing.once('close', listener);
}

/**
 * Runs an action for each item, evenly distributed over a time window: each item has its part of the window, and a random
 * moment in it, so that several gateways that stop together do not act at the same moments. Resolves after the last action.
 */
export async function stagger<T>(items: Iterable<T>, windowMs: number, act: (item: T) => unknown): Promise<void> {
  const all = [...items];
  await Promise.all(
    all.map(async (item, index) => {
      await sleep((windowMs * (index + Math.random())) / all.length);
      await act(item);
    }),
  );
}
