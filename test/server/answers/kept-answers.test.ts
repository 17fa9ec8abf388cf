import { beforeEach, describe, expect, test } from 'vitest';
import { createBasis } from '../../../src/loaders/basis.ts';
import type { Answer } from '../../../src/server/answers/answer.ts';
import { createKeptAnswers, type KeptAnswers } from '../../../src/server/answers/kept-answers.ts';

const MAX_BYTES = 200_000;

let head = { height: 1 };
let generation = {};
let now = 0;
let kept: KeptAnswers;

beforeEach(() => {
  head = { height: 1 };
  generation = {};
  now = 0;
  kept = createKeptAnswers({ maxBytes: MAX_BYTES, generation: () => generation, now: () => now });
});

function publish(): void {
  head = { height: head.height + 1 };
  generation = {};
}

function answer(basis: Answer['basis'], bytes = 10): Answer {
  return { status: 200, headers: [], body: Buffer.alloc(bytes), points: 1, basis };
}

function ofNow(bytes?: number): Answer {
  const basis = createBasis();
  basis.restsOn(() => head, head);
  return answer(basis, bytes);
}

const final = (bytes?: number) => answer(createBasis(), bytes);

describe('an answer that is kept', () => {
  test('is given again, the same, to the same text and to no other', () => {
    const made = ofNow();
    kept.keep('a', made, generation);
    expect([kept.get('a'), kept.get('b')]).toEqual([made, undefined]);
    expect(kept.get('a')).toBe(made);
  });

  test('is gone with a publication, and frees its bytes', () => {
    kept.keep('a', ofNow(), generation);
    expect(kept.bytes()).toBeGreaterThan(0);
    publish();
    expect([kept.get('a'), kept.bytes()]).toEqual([undefined, 0]);
  });

  test('stays gone when what was published is what it rested on', () => {
    const before = generation;
    kept.keep('a', ofNow(), generation);
    generation = {};
    expect(kept.get('a')).toBeUndefined();
    generation = before;
    expect(kept.get('a')).toBeUndefined();
  });

  test('outlives publications where it tells of final heights', () => {
    const made = final();
    kept.keep('a', made, generation);
    publish();
    expect(kept.get('a')).toBe(made);
  });

  test('is gone when a book that it holds has had its time', () => {
    const basis = createBasis();
    basis.lastsUntil(1_000);
    const made = answer(basis);
    kept.keep('a', made, generation);
    now = 999;
    expect(kept.get('a')).toBe(made);
    now = 1_000;
    expect(kept.get('a')).toBeUndefined();
  });
});

describe('what is not kept', () => {
  test('an answer with errors', () => {
    kept.keep('a', answer(undefined), generation);
    expect(kept.get('a')).toBeUndefined();
  });

  test('what tells of the moment at which it was made', () => {
    const basis = createBasis();
    basis.momentary(1);
    kept.keep('a', answer(basis), generation);
    expect(kept.get('a')).toBeUndefined();
  });

  test('what was begun before a publication, or is no longer true', () => {
    const begun = generation;
    const made = ofNow();
    publish();
    kept.keep('a', made, begun);
    kept.keep('b', made, generation);
    expect([kept.get('a'), kept.get('b')]).toEqual([undefined, undefined]);
  });

  test('what is too large to leave room for others', () => {
    kept.keep('a', ofNow(MAX_BYTES / 8), generation);
    expect(kept.get('a')).toBeUndefined();
  });

  test('anything, where there is no room at all', () => {
    const none = createKeptAnswers({ maxBytes: 0, generation: () => generation, now: () => now });
    none.keep('a', final(), generation);
    expect([none.get('a'), none.bytes()]).toEqual([undefined, 0]);
  });
});

test('the answers that were asked for least recently make room, and all bytes together stay below the bound', () => {
  const first = ofNow(1_000);
  kept.keep('first', first, generation);
  for (let n = 0; n < 1_000; n++) {
    expect(kept.get('first')).toBe(first);
    kept.keep(`now ${n}`, ofNow(1_000), generation);
    kept.keep(`final ${n}`, final(1_000), generation);
    expect(kept.bytes()).toBeLessThanOrEqual(MAX_BYTES);
  }
  expect(kept.get('now 0')).toBeUndefined();
  expect(kept.get('now 999')).toBeDefined();
  expect(kept.get('final 999')).toBeDefined();
});
