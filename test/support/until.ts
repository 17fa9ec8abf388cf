import { setTimeout as sleep } from 'node:timers/promises';

/** As long as `expect.poll` waits. */
const WAIT_MS = 120_000;

/** Waits until something is true. @throws after two minutes, with the code of what was not true */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  // Not a clock, which tests replace.
  const late = AbortSignal.timeout(WAIT_MS);
  while (!(await isTrue())) {
    if (late.aborted) throw new Error(`not true after ${WAIT_MS / 1_000} s: ${isTrue}`);
    await sleep(5);
  }
}
