/**
 * The order of the targets in a round. Each of them is first in turn; then all these orders come again backwards. A process is slower
 * after another one than after itself, so of two or three targets, each follows each other one equally often.
 */
export function orderOf<T>(targets: readonly T[], round: number): readonly T[] {
  const isBackwards = Math.floor(round / targets.length) % 2 === 1;
  const first = (isBackwards ? targets.length - (round % targets.length) : round) % targets.length;
  const order = [...targets.slice(first), ...targets.slice(0, first)];
  return isBackwards ? order.toReversed() : order;
}
