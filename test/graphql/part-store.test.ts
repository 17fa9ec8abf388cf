import { describe, expect, test } from 'vitest';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { createPartStore, type Part } from '../../src/graphql/execution/part-store.ts';
import type { ObjectPlan } from '../../src/graphql/execution/plan.ts';
import { createDependencies } from '../../src/loaders/dependencies.ts';

const PLAN: ObjectPlan = { typename: 'PoolPair', fields: [], failure: undefined, hasVariables: false, isPart: true };
const OTHER_PLAN: ObjectPlan = { ...PLAN };

const pool = (name: string): PoolPair => ({
  beaconHeight: 1,
  token1Id: name,
  token2Id: name,
  reserve1: 1n,
  reserve2: 1n,
});
const part = (length: number): Part => ({
  text: 'x'.repeat(length),
  dependencies: createDependencies(),
  isFinal: true,
  usesHead: false,
});

/** A store of 100 characters, in which parts of 20 have the names of their pools. */
function openStore() {
  const store = createPartStore(100);
  const pools = new Map<string, PoolPair>();
  const named = (name: string) => pools.get(name) ?? pools.set(name, pool(name)).get(name) ?? pool(name);
  return {
    set: (name: string, length = 20) => store.set(PLAN, named(name), part(length)),
    has: (name: string) => store.get(PLAN, named(name)) !== undefined,
    get: (name: string, plan = PLAN) => store.get(plan, named(name)),
  };
}

describe('a store of parts', () => {
  test('gives a text to those who ask for the same pool by the same plan', () => {
    const store = openStore();
    store.set('a', 7);
    expect(store.get('a')?.text.length).toBe(7);
    expect(store.get('b')).toBeUndefined();
    expect(store.get('a', OTHER_PLAN)).toBeUndefined();
  });

  test('lets go of what was not asked for while as much again came', () => {
    const store = openStore();
    for (const name of ['a', 'b', 'c', 'd']) store.set(name);
    expect(store.has('a')).toBe(true);
    // The half with c, d and a is full with the next: b goes with what came before.
    for (const name of ['e', 'f']) store.set(name);
    expect(['a', 'b', 'e', 'f'].map(store.has)).toEqual([true, false, true, true]);
  });

  test('has room for what comes, however much has come before', () => {
    const store = openStore();
    for (let n = 0; n < 100; n++) {
      store.set(`${n}`);
      expect(store.has(`${n}`)).toBe(true);
    }
  });

  test('counts a text that takes the place of another once', () => {
    const store = openStore();
    store.set('a');
    for (let n = 0; n < 100; n++) store.set('b');
    expect(store.has('a')).toBe(true);
  });

  test('does not keep what would take more than half of it', () => {
    const store = openStore();
    store.set('a');
    store.set('b', 51);
    expect(['a', 'b'].map(store.has)).toEqual([true, false]);
  });
});
