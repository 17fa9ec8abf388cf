import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a promise is settled, at most for this time. @returns whether it is settled */
export async function waitAtMost(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController();
  const settled = Promise.allSettled([promise]).then(() => true);
  const late = sleep(ms, false, { signal: waiting.signal }).catch(() => false);
  try {
    return await Promise.race([settled, late]);
  } finally {
    waiting.abort();
  }
}
