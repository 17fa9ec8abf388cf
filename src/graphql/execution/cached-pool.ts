import { type FieldNode, print } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { PoolPair } from '../../domain/pool-pair.ts';
import { type Context, createContext } from '../context.ts';
import type { FieldPlan, Shape } from './plan.ts';

/** What the JSON of a field depends on, beside the object. */
type ShapedField = Pick<FieldPlan, 'opening' | 'definition' | 'nodes' | 'selections'>;

/** The shapes of the selections that were compiled last. */
export type Shapes = ReturnType<typeof createShapes>;

/** Maximum length of the text that describes a shape. A pool with all its fields has about 500 characters. */
const MAX_CHARACTERS = 4_000;

/** Maximum length of the texts of all shapes. */
const MAX_TOTAL_CHARACTERS = 500_000;

/** Creates the shapes; there are none yet. */
export function createShapes() {
  const known = new LRUCache<string, Shape>({
    maxSize: MAX_TOTAL_CHARACTERS,
    maxEntrySize: MAX_CHARACTERS,
    sizeCalculation: (_shape, text) => text.length,
  });
  let shapes = 0;

  return {
    /** The shape of the fields of a type, and whether it is new; `undefined` if they are too many, or nested ones have no shape. */
    of(type: string, fields: readonly ShapedField[]): { readonly shape: Shape; readonly isNew: boolean } | undefined {
      let text = type;
      for (const { opening, definition, nodes, selections } of fields) {
        if (selections.some(({ shape }) => shape === undefined)) return undefined;
        text += `${opening}${definition.name}(${argumentsOf(nodes)}){${selections.map(({ shape }) => shape?.id)}}`;
        if (text.length > MAX_CHARACTERS) return undefined;
      }
      const shape = known.get(text);
      if (shape !== undefined) return { shape, isNew: false };
      const created = { id: shapes++ };
      known.set(text, created);
      return { shape: created, isNew: true };
    },
  };
}

/** The arguments of nodes as text. A fragment can be used thousands of times. */
const texts = new WeakMap<FieldNode, string>();

/** The arguments of a field as text. Its nodes all have the same ones. */
function argumentsOf([node]: readonly FieldNode[]): string {
  if (node?.arguments === undefined || node.arguments.length === 0) return '';
  const known = texts.get(node);
  if (known !== undefined) return known;
  const text = node.arguments.map(print).join();
  texts.set(node, text);
  return text;
}

/** Maximum length of the cached JSON of a pool. With all its values and those of its tokens, a pool of V3 has about 1,400 characters. */
const MAX_CACHED_LENGTH = 8_192;

/**
 * The JSON of a pool, from the cache beside its state or written now. A pool is on many pages and in many updates, and one
 * shape of selections is the same text in all of them.
 *
 * @param write writes the pool for a context; `undefined` if there is an error or a promise in it
 * @returns `undefined` if the pool has to be written for this response only
 */
export function writeCachedPool(
  shape: Shape,
  source: object,
  context: Context,
  write: (context: Context) => string | undefined,
): string | undefined {
  const pool = source as PoolPair;
  const { loaders, service } = context;
  const { sources } = service;
  // Each text belongs to the token list that is served. A response with an earlier one writes its pools itself.
  if (sources.tokens.status !== undefined && !loaders.tokens.isCurrent()) return undefined;
  const cache = sources.pools.jsonOf(pool);
  const cached = cache?.get(shape, pool);
  if (cached !== undefined && (cached.validity === undefined || loaders.canInclude(cached.validity)))
    return cached.text;

  const newest = sources.head.current();
  if (cache === undefined || newest === undefined) return undefined;
  const { reads } = sources.historyCache;
  if (cache.uncacheable.get(shape) === reads()) return undefined;

  // With loaders of its own, which note everything that the text depends on, and not only what this response has not read yet. They
  // read for the same client: as clients of their own, they would take the places of others in the queues.
  const own = createContext(service, { head: newest, client: loaders.options.requester.client });
  if (cached?.validity !== undefined && own.loaders.canInclude(cached.validity)) return undefined;
  const text = write(own);
  const canExpire = own.loaders.dependencies.expiresAt() < Number.POSITIVE_INFINITY;
  if (text === undefined || text.length > MAX_CACHED_LENGTH || canExpire) {
    cache.uncacheable.set(shape, reads());
    return undefined;
  }
  const validity = own.loaders.textValidity();
  // The same text as one flat string: V8 would keep all parts of a concatenated one.
  cache.set(shape, pool, { text: Buffer.from(text).toString(), validity });
  return validity === undefined || loaders.canInclude(validity) ? text : undefined;
}
