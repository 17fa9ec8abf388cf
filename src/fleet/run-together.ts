/** Runs something once for all who wait for it. Each waits for a run that began after its call. */
export function createRunTogether(run: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function start(): Promise<void> {
    const own = run().finally(() => {
      if (current === own) current = undefined;
    });
    current = own;
    return own;
  }

  return () => {
    if (current === undefined) return start();
    next ??= current.then(() => {
      next = undefined;
      return start();
    });
    return next;
  };
}
