/** A value that is there, or a promise of it. */
export type Soon<T> = T | Promise<T>;

/** Goes on with a value, at once where it is there: most are, and waiting for nothing takes longer than most fields do. */
export function whenThere<T, U>(value: Soon<T>, goOn: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
