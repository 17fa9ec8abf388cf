import { ExponentialBackoff, halfJitterGenerator } from 'cockatiel';

const DOUBLINGS = 5;

/**
 * Creates the pauses of an exponential back-off: the first is 1/32 of the longest, each further one is twice as long. Each
 * lasts between half of that and all of it, so that several gateways do not come back at the same moment.
 */
export function createBackOff(maxPauseMs: number): ExponentialBackoff<number> {
  const initialDelay = maxPauseMs / 2 ** DOUBLINGS;
  return new ExponentialBackoff({ initialDelay, maxDelay: maxPauseMs, generator: halfJitterGenerator });
}
