import type { TakeTurn } from '../../turns/turns.ts';

/** Maximum time for which a response is written without yielding to the event loop. */
const SLICE_MS = 8;

/** The clock is read once per this number of list entries. */
const ENTRIES_PER_CHECK = 4;

/** The current time slice of a response. `isYielding` is true from its end until the next one begins. */
export type TimeSlice = { readonly takeTurn: TakeTurn; startedAt: number; entries: number; isYielding: boolean };

/** Starts the first slice of a response. */
export function startTimeSlice(takeTurn: TakeTurn): TimeSlice {
  return { takeTurn, startedAt: performance.now(), entries: 0, isYielding: false };
}

/** Whether the response must yield to the event loop. */
export function isOver({ startedAt }: TimeSlice): boolean {
  return performance.now() - startedAt > SLICE_MS;
}

/** The same after an entry of a list. */
export function isOverForEntry(slice: TimeSlice): boolean {
  slice.entries += 1;
  return slice.entries % ENTRIES_PER_CHECK === 0 && isOver(slice);
}

/** Continues in a later turn of the event loop, with a new slice. */
export async function continueLater<T>(slice: TimeSlice, next: () => T | Promise<T>): Promise<T> {
  slice.isYielding = true;
  await slice.takeTurn();
  slice.isYielding = false;
  slice.startedAt = performance.now();
  return next();
}
