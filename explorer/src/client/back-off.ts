const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/**
 * How long to wait before a retry, in milliseconds: up to a second for the first one (0), twice that for each later one, at
 * most 30 s. All of it is random ("full jitter"), so that the clients of a gateway that restarts do not come back together.
 */
export function retryDelayMs(retries: number, random: () => number = Math.random): number {
  return random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** retries);
}
