/** What a selection asks for, each time that it is made. */
export type SelectionCost = {
  readonly objects: number;
  /** The part of `objects` for each entry of the lists whose length the field around the selection may know. */
  readonly objectsPerEntry: number;
  readonly schemaObjects: number;
  /** Values of the answer, by the lengths that lists really have where that is known. */
  readonly values: number;
  /** The part of `values` for each entry of lists, as with `objectsPerEntry`. */
  readonly valuesPerEntry: number;
  readonly depth: number;
  readonly nesting: number;
  /** Fields of the selection itself, those of its fragments among them. */
  readonly siblings: number;
};

/** What an empty selection asks for. */
export const NOTHING: SelectionCost = {
  objects: 0,
  objectsPerEntry: 0,
  schemaObjects: 0,
  values: 0,
  valuesPerEntry: 0,
  depth: 0,
  nesting: 0,
  siblings: 0,
};

/** What two selections ask for side by side. */
export function add(a: SelectionCost, b: SelectionCost): SelectionCost {
  if (a === NOTHING) return b;
  return {
    objects: a.objects + b.objects,
    objectsPerEntry: a.objectsPerEntry + b.objectsPerEntry,
    schemaObjects: a.schemaObjects + b.schemaObjects,
    values: a.values + b.values,
    valuesPerEntry: a.valuesPerEntry + b.valuesPerEntry,
    depth: Math.max(a.depth, b.depth),
    nesting: Math.max(a.nesting, b.nesting),
    siblings: a.siblings + b.siblings,
  };
}
