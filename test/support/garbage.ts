import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects the garbage of this process now. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
