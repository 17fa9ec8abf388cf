/** Runs something once for all who wait for it. Each waits for a run that began after its call. */
export function createRunTogether(run: () => Promise<void>): () => Promise<void> {
  let current = Promise.resolve();
  let next: Promise<void> | undefined;

  return () => {
    next ??= current.then(() => {
      next = undefined;
      current = run();
      return current;
    });
    return next;
  };
}
