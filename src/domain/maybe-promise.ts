/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Calls a function with a value: at once if the value is not a promise. Most are not, and awaiting them would take longer than
 * most fields take.
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
