import { type DocumentNode, valueFromASTUntyped, visit } from 'graphql';
import { parseCursor } from '../domain/cursor.ts';

/** What the arguments of an operation may name a height with, and how it is read. */
const HEIGHT_READERS: Readonly<Record<string, (value: unknown) => readonly unknown[]>> = {
  at: (value) => [value],
  after: (value) => [parseCursor(String(value))?.beaconHeight],
  before: (value) => [parseCursor(String(value))?.beaconHeight],
  id: (value) => [heightOfId(value)],
  ids: (value) => [value].flat().map(heightOfId),
};

/** The heights that an operation names in `at`, cursors and ids, each once. The document holds no other operation. */
export function namedHeights(document: DocumentNode, variables: Record<string, unknown>): ReadonlySet<number> {
  const heights = new Set<number>();
  visit(document, {
    Argument(argument) {
      const read = HEIGHT_READERS[argument.name.value];
      for (const height of read?.(valueFromASTUntyped(argument.value, variables)) ?? []) {
        if (typeof height === 'number') heights.add(height);
      }
    },
  });
  return heights;
}

function heightOfId(id: unknown): number | undefined {
  const height = /@(\d+)$/.exec(String(id))?.[1];
  return height === undefined ? undefined : Number(height);
}
