import { beforeEach, describe, expect, test } from 'vitest';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { Dependencies } from '../../../src/loaders/dependencies.ts';
import { EncodedResponse } from '../../../src/server/operations/encoded-response.ts';
import { createResponseCache } from '../../../src/server/operations/response-cache.ts';

const MAX_BYTES = 200_000;

let head = { height: 1 };
let dataVersion = {};
let now = 0;
let cache: ReturnType<typeof createCache>;

beforeEach(() => {
  head = { height: 1 };
  dataVersion = {};
  now = 0;
  cache = createCache(MAX_BYTES);
});

function createCache(maxBytes: number) {
  const { get, store } = createResponseCache({ maxBytes, now: () => now });
  return { get: (text: string) => get(text, dataVersion), store };
}

function publish(): void {
  head = { height: head.height + 1 };
  dataVersion = {};
}

function responseWith(dependencies: EncodedResponse['facts']['dependencies'], bytes = 10): EncodedResponse {
  const response = new EncodedResponse(new WrittenResult('1'), { points: 1, values: 1, dependencies });
  return Object.assign(response, { body: [Buffer.alloc(bytes)], bytes });
}

/** Stores a response after its text was requested twice. */
function storeAtSecondRequest(text: string, response: EncodedResponse, version = dataVersion): void {
  for (let times = 0; times < 2; times++) expect(cache.get(text)).toBeUndefined();
  cache.store(text, response, version);
}

function current(bytes?: number): EncodedResponse {
  const dependencies = new Dependencies();
  dependencies.dependOn(() => head, head);
  return responseWith(dependencies, bytes);
}

describe('a cached response', () => {
  test('is returned for the same text and for no other', () => {
    const response = current();
    storeAtSecondRequest('a', response);
    expect([cache.get('a'), cache.get('b')]).toEqual([response, undefined]);
    expect(cache.get('a')).toBe(response);
  });

  test('is not confused with another of the same length, of which it differs in one character', () => {
    const texts = Array.from({ length: 100 }, (_, n) => `${' '.repeat(n)}x${' '.repeat(99 - n)}`);
    const responses = texts.map(() => current());
    for (const [n, text] of texts.entries()) {
      for (let times = 0; times < 2; times++) cache.get(text);
      cache.store(text, responses[n] as EncodedResponse, dataVersion);
    }
    expect(texts.map((text) => responses.indexOf(cache.get(text) as EncodedResponse))).toEqual(texts.map((_, n) => n));
  });

  test('is removed with a publication', () => {
    storeAtSecondRequest('a', current());
    publish();
    expect(cache.get('a')).toBeUndefined();
  });

  test('stays removed when the data that it depends on is published again', () => {
    const before = dataVersion;
    storeAtSecondRequest('a', current());
    dataVersion = {};
    expect(cache.get('a')).toBeUndefined();
    dataVersion = before;
    expect(cache.get('a')).toBeUndefined();
  });

  test('is removed when an order book in it expires', () => {
    const dependencies = new Dependencies();
    dependencies.expireAt(1_000);
    const response = responseWith(dependencies);
    storeAtSecondRequest('a', response);
    now = 999;
    expect(cache.get('a')).toBe(response);
    now = 1_000;
    expect(cache.get('a')).toBeUndefined();
  });
});

describe('the cache does not store', () => {
  test('a response that was requested once, or once in each of two versions', () => {
    for (let times = 0; times < 2; times++) {
      expect(cache.get('a')).toBeUndefined();
      cache.store('a', current(), dataVersion);
      expect(cache.get('a')).toBeUndefined();
      publish();
    }
  });

  test('a response that was requested twice, with ten thousand others in between', () => {
    for (let n = 0; n <= 10_000; n++) cache.get(`other ${n}`);
    cache.get('a');
    for (let n = 0; n <= 10_000; n++) cache.get(`another ${n}`);
    cache.get('a');
    cache.store('a', current(), dataVersion);
    expect(cache.get('a')).toBeUndefined();
  });

  test('a response with errors', () => {
    storeAtSecondRequest('a', responseWith(undefined));
    expect(cache.get('a')).toBeUndefined();
  });

  test('a response that contains an age', () => {
    const dependencies = new Dependencies();
    dependencies.expireNow(1);
    storeAtSecondRequest('a', responseWith(dependencies));
    expect(cache.get('a')).toBeUndefined();
  });

  test('a response that was started before a publication, or is no longer current', () => {
    const version = dataVersion;
    const response = current();
    publish();
    storeAtSecondRequest('a', response, version);
    storeAtSecondRequest('b', response);
    expect([cache.get('a'), cache.get('b')]).toEqual([undefined, undefined]);
  });

  test('a response that would take too much of the cache', () => {
    storeAtSecondRequest('a', current(MAX_BYTES / 16));
    expect(cache.get('a')).toBeUndefined();
  });

  test('anything if its size is 0', () => {
    const none = createCache(0);
    for (let times = 0; times < 2; times++) none.get('a');
    none.store('a', current(), dataVersion);
    expect(none.get('a')).toBeUndefined();
  });
});

test('the least recently used responses are evicted, and the size stays below the maximum', () => {
  const first = current(1_000);
  storeAtSecondRequest('first', first);
  for (let n = 0; n < 1_000; n++) {
    expect(cache.get('first')).toBe(first);
    storeAtSecondRequest(`now ${n}`, current(1_000));
  }
  const left = Array.from({ length: 1_000 }, (_, n) => cache.get(`now ${n}`) !== undefined);
  expect([left[0], left[999]]).toEqual([false, true]);
  expect(left.filter(Boolean).length * 1_000).toBeLessThanOrEqual(MAX_BYTES);
});
