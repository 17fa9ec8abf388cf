import type { PoolPair } from '../../domain/pool-pair.ts';
import type { Dependencies } from '../../loaders/dependencies.ts';
import type { ObjectPlan } from './plan.ts';

/** A text, and what it rests on beside its pool. */
export type Part = {
  readonly text: string;
  readonly dependencies: Dependencies;
  readonly isFinal: boolean;
  /** Whether it depends on the newest head, as a pool of an earlier height does that shows what is current. */
  readonly usesHead: boolean;
};

/** Texts of pools, by the plans that they are written by: those that were asked for last. */
export type PartStore = {
  get(plan: ObjectPlan, pool: PoolPair): Part | undefined;
  set(plan: ObjectPlan, pool: PoolPair, part: Part): void;
};

type ByPlan = Map<ObjectPlan, Map<PoolPair, Part>>;

/**
 * Makes a store of so many characters.
 *
 * It is two halves. What is asked for goes into one; when that is full, it takes the place of the other, with all that was
 * not asked for since. So nothing has to be put in order at a look, and what nobody asks for any more, such as the pools of
 * a height that was read again, does not stay in the way.
 */
export function createPartStore(maxCharacters: number): PartStore {
  const half = maxCharacters / 2;
  let recent: ByPlan = new Map();
  let earlier: ByPlan = new Map();
  let characters = 0;

  function set(plan: ObjectPlan, pool: PoolPair, part: Part): void {
    const { length } = part.text;
    if (length > half) return;
    if (characters + length > half) {
      earlier = recent;
      recent = new Map();
      characters = 0;
    }
    const ofPlan = recent.get(plan) ?? new Map<PoolPair, Part>();
    characters += length - (ofPlan.get(pool)?.text.length ?? 0);
    recent.set(plan, ofPlan.set(pool, part));
  }

  return {
    set,
    get(plan, pool) {
      const part = recent.get(plan)?.get(pool);
      if (part !== undefined) return part;
      const before = earlier.get(plan)?.get(pool);
      if (before !== undefined) set(plan, pool, before);
      return before;
    },
  };
}
