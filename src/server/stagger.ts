import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Does something to each of many, evenly spread over a time: at a random moment of its own part of it, so that neither
 * those here nor those of another gateway that stops with this one come together.
 *
 * @returns once it is done to all
 */
export async function stagger<T>(many: Iterable<T>, windowMs: number, act: (one: T) => unknown): Promise<void> {
  const all = [...many];
  await Promise.all(
    all.map(async (one, n) => {
      await sleep((windowMs * (n + Math.random())) / all.length);
      await act(one);
    }),
  );
}
