/** How long an answer is written at once: then others have their turn of the event loop. */
const SLICE_MS = 8;

/** The clock is read for every fourth entry of a list. */
const ENTRIES_BETWEEN_LOOKS = 4;

/** Resolves when the caller may go on, in a later turn of the event loop. */
export type TakeTurn = () => Promise<void>;

/** How long one answer has been written without an interruption. */
export type TimeSlice = { readonly takeTurn: TakeTurn; startedAt: number; entries: number };

/** Starts the first slice of an answer. */
export function startTimeSlice(takeTurn: TakeTurn): TimeSlice {
  return { takeTurn, startedAt: performance.now(), entries: 0 };
}

/** Whether an answer has been written for so long that others should have their turn. */
export function isOver({ startedAt }: TimeSlice): boolean {
  return performance.now() - startedAt > SLICE_MS;
}

/** The same for the next entry of a list, of which there can be very many. */
export function isOverForEntry(slice: TimeSlice): boolean {
  slice.entries += 1;
  return slice.entries % ENTRIES_BETWEEN_LOOKS === 0 && isOver(slice);
}

/** Goes on in a later turn, with a new slice. */
export async function continueLater<T>(slice: TimeSlice, next: () => T | Promise<T>): Promise<T> {
  await slice.takeTurn();
  slice.startedAt = performance.now();
  return next();
}

/** The next turn of the event loop, for who shares it with nobody. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
