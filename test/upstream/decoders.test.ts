import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UpstreamBadShapeError, UpstreamRpcError } from '../../src/errors.ts';
import { decode } from '../../src/upstream/decode.ts';
import { parseJson } from '../../src/upstream/json.ts';
import { readOrderBook, readPairs, readTickers } from '../../src/upstream/market-data/decode.ts';
import { readChainInfo } from '../../src/upstream/node/chain-info.ts';
import { readResult } from '../../src/upstream/node/envelope.ts';
import { readExchangeState } from '../../src/upstream/node/exchange-state.ts';
import { readFixture } from './fixture.ts';

const decoders: [string, (document: unknown) => unknown][] = [
  ['node/getblockchaininfo', (document) => readChainInfo(readResult(document, 1))],
  ['node/getpdestate', (document) => readExchangeState(readResult(document, 1), 835_380)],
  ['node/error', (document) => readResult(document, 1)],
  ['market-data/pairs', readPairs],
  ['market-data/tickers', readTickers],
  ['market-data/orderbook', readOrderBook],
];

/** The text of a document, its bigints as digits. */
function print(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(print).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([key, field]) => `${JSON.stringify(key)}:${print(field)}`)
    .join()}}`;
}

/** A copy with `value` in one place: each step goes to that entry, counted round and round; no steps, or no entry, is here. */
function mutate(document: unknown, steps: readonly number[], value: unknown, rename: boolean): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof document !== 'object' || document === null) return value;
  const entries = Object.entries(document);
  if (entries.length === 0) return value;

  const at = step % entries.length;
  const changed = entries.map(([key, entry], index) => {
    if (index !== at) return [key, entry] as const;
    return [rename && rest.length === 0 ? `${key}0` : key, mutate(entry, rest, value, rename)] as const;
  });
  return Array.isArray(document) ? changed.map(([, entry]) => entry) : Object.fromEntries(changed);
}

const anything = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    true,
    '',
    [],
    {},
    -1,
    0,
    0.5,
    1e300,
    2n ** 53n,
    2n ** 64n,
    -(2n ** 64n),
    [[]],
    [null],
  ),
  fc.jsonValue(),
);
const steps = fc.array(fc.nat({ max: 20 }), { maxLength: 5 });
const mutations = fc.array(fc.tuple(steps, anything, fc.boolean()), { minLength: 1, maxLength: 3 });

/** What a decoder makes of a text: a value, or one of the two errors that callers know; else the error is thrown on. */
function outcomeOf(text: string, read: (document: unknown) => unknown): 'value' | 'known error' {
  try {
    decode('NODE', text, read);
    return 'value';
  } catch (error) {
    if (error instanceof UpstreamBadShapeError || error instanceof UpstreamRpcError) return 'known error';
    throw error;
  }
}

test.each(decoders)('whatever is changed in %s, it is read or refused with a known error', (name, read) => {
  const recorded = parseJson(readFixture(name));
  const seen = new Set<string>();
  fc.assert(
    fc.property(mutations, (changes) => {
      const mutated = changes.reduce(
        (document, [path, value, rename]) => mutate(document, path, value, rename),
        recorded,
      );
      seen.add(outcomeOf(print(mutated) ?? '', read));
    }),
    { numRuns: 1_500 },
  );
  expect(seen).toContain('known error');
  if (name !== 'node/error') expect(seen).toContain('value');
});

test.each(decoders)('wherever %s is cut off or spoilt, it is read or refused with a known error', (name, read) => {
  const recorded = readFixture(name).trim();
  const place = fc.nat({ max: recorded.length - 1 });
  fc.assert(
    fc.property(place, fc.nat({ max: 5 }), fc.string({ maxLength: 3 }), (at, length, instead) => {
      outcomeOf(recorded.slice(0, at) + instead + recorded.slice(at + length), read);
      expect(outcomeOf(recorded.slice(0, at), read)).toBe('known error');
    }),
    { numRuns: 500 },
  );
});
