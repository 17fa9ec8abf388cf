import { hasPools, type PoolDirectory, toPoolDirectory } from '../domain/exchange.ts';
import type { DirectoryMessage } from './messages.ts';

/** The directories that one side of a worker has, by the names that both sides use. */
export type Directories = {
  readonly names: readonly string[];
  /** Names a directory. @param known the names that the receiver has */
  toMessage(directory: PoolDirectory, known: readonly string[]): DirectoryMessage;
  /** The directory of a message; `undefined` if it is not known and the message has no ids. */
  toDirectory(message: DirectoryMessage): PoolDirectory | undefined;
};

/** New pools are rare, and no pool is removed: nearly all states have one of few directories. */
const MAX_DIRECTORIES = 4;

/** Creates the directories of one side. @param side the beginning of the names that it gives */
export function createDirectories(side: 'client' | 'worker'): Directories {
  const directories = new Map<string, PoolDirectory>();
  let count = 0;

  function keep(name: string, directory: PoolDirectory): void {
    directories.delete(name);
    directories.set(name, directory);
    for (const oldest of directories.keys()) if (directories.size > MAX_DIRECTORIES) directories.delete(oldest);
  }

  return {
    get names() {
      return [...directories.keys()];
    },
    toMessage(directory, known) {
      const found = [...directories].find(([, other]) => hasPools(other, directory.ids));
      const [name, same] = found ?? [`${side} ${count++}`, directory];
      keep(name, same);
      return { name, ids: known.includes(name) ? undefined : directory.ids };
    },
    toDirectory({ name, ids }) {
      const known = directories.get(name);
      const directory = known ?? (ids && toPoolDirectory(ids, [...directories.values()].at(-1)));
      if (directory) keep(name, directory);
      return directory;
    },
  };
}
