/** The clock of the gateway, as far as the page knows it. All relative times are by it. */
export type ServerClock = {
  /** Milliseconds since 1970, by the clock of the gateway. By that of this computer, until the gateway has sent its time. */
  now(): number;
  /** Takes a time that the gateway has just sent. */
  observe(serverTime: number): void;
};

/** Old samples are forgotten, because a clock may be set, and a computer may sleep. */
const SAMPLES = 8;

/** Creates the clock. `localNow` is the clock of this computer. */
export function createServerClock(localNow: () => number = Date.now): ServerClock {
  let offsets: readonly number[] = [];
  return {
    // A time arrives later than it was sent. So the largest difference is the one with the least delay.
    now: () => localNow() + (offsets.length === 0 ? 0 : Math.max(...offsets)),
    observe(serverTime) {
      offsets = [...offsets, serverTime - localNow()].slice(-SAMPLES);
    },
  };
}
