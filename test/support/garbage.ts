import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Waits until at most `most` of the objects are in memory. One collection is not enough: the compiler of V8 references objects too. */
export async function untilCollected(references: readonly WeakRef<object>[], most = 0): Promise<void> {
  const inMemory = () => {
    collectGarbage();
    return references.filter((each) => each.deref() !== undefined).length;
  };
  await expect.poll(inMemory).toBeLessThanOrEqual(most);
}
