import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UpstreamRpcError } from '../../src/errors.ts';
import { createDocumentReader } from '../../src/upstream/decode.ts';
import { parseJson } from '../../src/upstream/json.ts';
import { readOrderBook } from '../../src/upstream/market-data/decode.ts';
import { readChainInfo } from '../../src/upstream/node/chain-info.ts';
import { readResult } from '../../src/upstream/node/envelope.ts';
import { Misfit } from '../../src/upstream/wire.ts';
import { readFixture } from './fixture.ts';
import { readPairs, readTickers } from './market-data/whole-list.ts';
import { anyMutations, mutateAll, print } from './mutations.ts';
import { readExchangeState } from './node/whole-state.ts';

const decoders: [string, (document: unknown) => unknown][] = [
  ['node/getblockchaininfo', (document) => readChainInfo(readResult(document, 1))],
  ['node/getpdestate', (document) => readExchangeState(readResult(document, 1), 835_380)],
  ['node/error', (document) => readResult(document, 1)],
  ['market-data/pairs', readPairs],
  ['market-data/tickers', readTickers],
  ['market-data/orderbook', readOrderBook],
];

/** What a decoder makes of a text: a value, or one of the errors that callers know; else the error is thrown on. */
function outcomeOf(text: string, read: (document: unknown) => unknown): 'value' | 'known error' {
  try {
    const reader = createDocumentReader(2 ** 20, read);
    reader.write(Buffer.from(text));
    reader.end();
    return 'value';
  } catch (error) {
    if ([SyntaxError, Misfit, UpstreamRpcError].some((known) => error instanceof known)) return 'known error';
    throw error;
  }
}

test.each(decoders)('whatever is changed in %s, it is read or refused with a known error', (name, read) => {
  const recorded = parseJson(readFixture(name));
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyMutations, (changes) => {
      seen.add(outcomeOf(print(mutateAll(recorded, changes)) ?? '', read));
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
