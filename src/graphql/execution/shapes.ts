import { type FieldNode, print } from 'graphql';
import { LRUCache } from 'lru-cache';

/** Stands for all selections, of whatever document, by which an object is written as the same JSON. */
export type Shape = { readonly id: number };

/** What the JSON of a field depends on, beside the object. */
type ShapedField = {
  readonly opening: string;
  readonly property: string;
  readonly nodes: readonly FieldNode[];
  readonly selections: readonly { readonly shape: Shape | undefined }[];
};

/** The shapes of the selections that were compiled last. */
export type Shapes = {
  /** The shape of the fields of a type, and whether it is new; `undefined` if they are too many, or nested ones have no shape. */
  of(type: string, fields: readonly ShapedField[]): { readonly shape: Shape; readonly isNew: boolean } | undefined;
};

/** Maximum length of the text that describes a shape. A pool with all its fields has about 500 characters. */
const MAX_CHARACTERS = 4_000;

/** Maximum length of the texts of all shapes. */
const MAX_TOTAL_CHARACTERS = 500_000;

/** Creates the shapes; there are none yet. */
export function createShapes(): Shapes {
  const known = new LRUCache<string, Shape>({
    maxSize: MAX_TOTAL_CHARACTERS,
    maxEntrySize: MAX_CHARACTERS,
    sizeCalculation: (_shape, text) => text.length,
  });
  let shapes = 0;

  return {
    of(type, fields) {
      let text = type;
      for (const { opening, property, nodes, selections } of fields) {
        if (text.length > MAX_CHARACTERS || selections.some(({ shape }) => shape === undefined)) return undefined;
        text += `${opening}${property}(${argumentsOf(nodes)}){${selections.map(({ shape }) => shape?.id)}}`;
      }
      const shape = known.get(text);
      if (shape !== undefined) return { shape, isNew: false };
      const created = { id: shapes++ };
      known.set(text, created);
      return { shape: created, isNew: true };
    },
  };
}

/** The arguments of a field as text. Its nodes all have the same ones. */
function argumentsOf([node]: readonly FieldNode[]): string {
  return node?.arguments?.map(print).join() ?? '';
}
