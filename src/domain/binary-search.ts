/**
 * The first index below a length at which a condition is true, by binary search; the length if there is none. Once the
 * condition is true, it is true for all later indexes.
 */
export function firstIndexWhere(length: number, isTrue: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
