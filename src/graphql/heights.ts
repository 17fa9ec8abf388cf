import { heightOfCursor } from '../domain/cursor.ts';

/** The arguments that can name heights, and how these are read. */
const HEIGHT_READERS: Readonly<Record<string, (value: unknown) => readonly unknown[]>> = {
  at: (value) => [value],
  after: (value) => [heightOfCursor(String(value))],
  before: (value) => [heightOfCursor(String(value))],
  id: (value) => [heightOfId(value)],
  ids: (value) => [value].flat().map(heightOfId),
};

/** The heights that the arguments of a field name, in `at`, in cursors and in ids. */
export function namedHeights(args: Readonly<Record<string, unknown>>): number[] {
  const heights: number[] = [];
  for (const name in args) {
    if (args[name] == null || !Object.hasOwn(HEIGHT_READERS, name)) continue;
    for (const height of HEIGHT_READERS[name]?.(args[name]) ?? []) if (typeof height === 'number') heights.push(height);
  }
  return heights;
}

function heightOfId(id: unknown): number | undefined {
  const height = /@(\d+)$/.exec(String(id))?.[1];
  return height === undefined ? undefined : Number(height);
}
