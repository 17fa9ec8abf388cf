/** The largest number of the promises that are fulfilled in one turn of the event loop. Resolves when all are. */
export async function mostInOneTurn(promises: readonly unknown[]): Promise<number> {
  let most = 0;
  let inThisTurn = 0;
  let next = setImmediate(startTurn);

  function startTurn(): void {
    inThisTurn = 0;
    next = setImmediate(startTurn);
  }

  async function count(promise: unknown): Promise<void> {
    await promise;
    inThisTurn += 1;
    most = Math.max(most, inThisTurn);
  }

  try {
    await Promise.all(promises.map(count));
  } finally {
    clearImmediate(next);
  }
  return most;
}
