import { beforeEach, describe, expect, test } from 'vitest';
import { createDependencies } from '../../../src/loaders/dependencies.ts';
import type { EncodedResponse } from '../../../src/server/http/encoded-response.ts';
import { createResponseCache, type ResponseCache } from '../../../src/server/http/response-cache.ts';

const MAX_BYTES = 200_000;

let head = { height: 1 };
let dataVersion = {};
let now = 0;
let kept: ResponseCache;

beforeEach(() => {
  head = { height: 1 };
  dataVersion = {};
  now = 0;
  kept = createResponseCache({ maxBytes: MAX_BYTES, dataVersion: () => dataVersion, now: () => now });
});

function publish(): void {
  head = { height: head.height + 1 };
  dataVersion = {};
}

function answer(dependencies: EncodedResponse['dependencies'], bytes = 10): EncodedResponse {
  return {
    status: 200,
    headers: [],
    body: Buffer.alloc(bytes),
    points: 1,
    dependencies,
    errors: undefined,
    etags: undefined,
  };
}

/** Keeps an answer as its text is asked for the second time. */
function keep(text: string, made: EncodedResponse, begun = dataVersion): void {
  for (let times = 0; times < 2; times++) expect(kept.get(text)).toBeUndefined();
  kept.store(text, made, begun);
}

function ofNow(bytes?: number): EncodedResponse {
  const dependencies = createDependencies();
  dependencies.dependOn(() => head, head);
  return answer(dependencies, bytes);
}

const final = (bytes?: number) => answer(createDependencies(), bytes);

describe('an answer that is kept', () => {
  test('is given again, the same, to the same text and to no other', () => {
    const made = ofNow();
    keep('a', made);
    expect([kept.get('a'), kept.get('b')]).toEqual([made, undefined]);
    expect(kept.get('a')).toBe(made);
  });

  test('is gone with a publication, and frees its bytes', () => {
    keep('a', ofNow());
    expect(kept.bytes()).toBeGreaterThan(0);
    publish();
    expect([kept.get('a'), kept.bytes()]).toEqual([undefined, 0]);
  });

  test('stays gone when what was published is what it rested on', () => {
    const before = dataVersion;
    keep('a', ofNow());
    dataVersion = {};
    expect(kept.get('a')).toBeUndefined();
    dataVersion = before;
    expect(kept.get('a')).toBeUndefined();
  });

  test('outlives publications where it tells of final heights', () => {
    const made = final();
    keep('a', made);
    publish();
    expect(kept.get('a')).toBe(made);
  });

  test('is gone when a book that it holds has had its time', () => {
    const dependencies = createDependencies();
    dependencies.expireAt(1_000);
    const made = answer(dependencies);
    keep('a', made);
    now = 999;
    expect(kept.get('a')).toBe(made);
    now = 1_000;
    expect(kept.get('a')).toBeUndefined();
  });
});

describe('what is not kept', () => {
  test('an answer that was asked for once, or once in each of two dataVersions', () => {
    for (let times = 0; times < 2; times++) {
      expect(kept.get('a')).toBeUndefined();
      kept.store('a', ofNow(), dataVersion);
      expect(kept.bytes()).toBe(0);
      publish();
    }
  });

  test('an answer that was asked for twice, with a thousand others between', () => {
    for (let n = 0; n <= 1_000; n++) kept.get(`other ${n}`);
    kept.get('a');
    for (let n = 0; n <= 1_000; n++) kept.get(`another ${n}`);
    kept.get('a');
    kept.store('a', ofNow(), dataVersion);
    expect(kept.bytes()).toBe(0);
  });

  test('an answer that was asked for twice, with a million characters of others between', () => {
    kept.get('a');
    for (let n = 0; n < 100; n++) kept.get(`${n}`.padEnd(10_001));
    kept.get('a');
    kept.store('a', ofNow(), dataVersion);
    expect(kept.bytes()).toBe(0);
  });

  test('an answer with errors', () => {
    keep('a', answer(undefined));
    expect(kept.get('a')).toBeUndefined();
  });

  test('what tells of the moment at which it was made', () => {
    const dependencies = createDependencies();
    dependencies.expireNow(1);
    keep('a', answer(dependencies));
    expect(kept.get('a')).toBeUndefined();
  });

  test('what was begun before a publication, or is no longer true', () => {
    const begun = dataVersion;
    const made = ofNow();
    publish();
    keep('a', made, begun);
    keep('b', made);
    expect([kept.get('a'), kept.get('b')]).toEqual([undefined, undefined]);
  });

  test('what is too large to leave room for others', () => {
    keep('a', ofNow(MAX_BYTES / 8));
    expect(kept.get('a')).toBeUndefined();
  });

  test('anything, where there is no room at all', () => {
    const none = createResponseCache({ maxBytes: 0, dataVersion: () => dataVersion, now: () => now });
    none.store('a', final(), dataVersion);
    expect([none.get('a'), none.bytes()]).toEqual([undefined, 0]);
  });
});

test('the answers that were asked for least recently make room, and all bytes together stay below the bound', () => {
  const first = ofNow(1_000);
  keep('first', first);
  for (let n = 0; n < 1_000; n++) {
    expect(kept.get('first')).toBe(first);
    keep(`now ${n}`, ofNow(1_000));
    keep(`final ${n}`, final(1_000));
    expect(kept.bytes()).toBeLessThanOrEqual(MAX_BYTES);
  }
  expect(kept.get('now 0')).toBeUndefined();
  expect(kept.get('now 999')).toBeDefined();
  expect(kept.get('final 999')).toBeDefined();
});
