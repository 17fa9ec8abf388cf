/** A value that is there, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value, at once where it is there: most are, and waiting for nothing takes longer than most fields do. */
export function andThen<T, U>(value: MaybePromise<T>, goOn: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
