import type { Block } from './block.ts';

/** Blocks of a group: four hours, which are created in some milliseconds, up to the height that is read. */
const GROUP = 360;

/** Groups that are kept, because a client reads neighbouring heights one after another. */
const MAX_GROUPS = 4;

/**
 * Creates the function that returns a block older than the stored ones. Each group of heights begins with a block that follows from
 * its height alone, so that a chain needs neither time nor memory for a past that nobody reads.
 */
export function createEarlierBlocks(
  firstOf: (height: number) => Block,
  next: (previous: Block) => Block,
): (height: number) => Block | undefined {
  const groups = new Map<number, Block[]>();

  return (height) => {
    const first = height - (height % GROUP);
    const group = groups.get(first) ?? [firstOf(first)];
    groups.delete(first);
    groups.set(first, group);
    for (const oldest of groups.keys()) if (groups.size > MAX_GROUPS) groups.delete(oldest);
    for (let last = group.at(-1); last && last.height < height; last = group.at(-1)) group.push(next(last));
    return group[height - first];
  };
}
