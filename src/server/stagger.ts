import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs an action for each item, evenly distributed over a time window: each item has its part of the window, and a random
 * moment in it, so that several gateways that stop together do not act at the same moments.
 *
 * @returns when all actions have finished
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
