import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UpstreamRpcError } from '../../src/errors.ts';
import { createDocumentReader, parseJson } from '../../src/upstream/json.ts';
import { readOrderBook } from '../../src/upstream/market-data/decode.ts';
import { readChainInfo } from '../../src/upstream/node/chain-info.ts';
import { readParams } from '../../src/upstream/node/decode-v3.ts';
import { readResult } from '../../src/upstream/node/envelope.ts';
import type { ResponseReader } from '../../src/upstream/response-body.ts';
import { ShapeError } from '../../src/upstream/wire.ts';
import { readFixture } from './fixture.ts';
import { createPairsReader, createTickersReader } from './market-data/whole-list.ts';
import { anyMutations, mutateAll, print } from './mutations.ts';
import { newPoolsReader, poolsResponse, resultOf } from './node/pools-v3.ts';
import { stateResponse } from './node/states.ts';

/** That of the recorded orders. */
const POOL_ID = /[0-9a-f-]{194}/.exec(readFixture('node/v3/pool-pair-orders'))?.[0] ?? '';

const ofDocument = (read: (document: unknown) => unknown) => () => createDocumentReader(2 ** 20, read);

const readers: [string, () => ResponseReader<unknown>][] = [
  ['node/getblockchaininfo', ofDocument((document) => readChainInfo(readResult(document, 1)))],
  ['node/getpdestate', () => stateResponse(835_380)],
  ['node/v3/pool-pairs.verbosity-4', () => poolsResponse()],
  ['node/v3/pool-pair-orders', () => newPoolsReader().readOrders(POOL_ID, resultOf)],
  ['node/v3/params.at-launch', ofDocument((document) => readParams(readResult(document, 1)))],
  ['node/error', ofDocument((document) => readResult(document, 1))],
  ['market-data/pairs', () => createPairsReader()],
  ['market-data/tickers', () => createTickersReader()],
  ['market-data/orderbook', ofDocument((document) => readOrderBook(document, 'pBTC_PRV'))],
];

/** What a reader makes of a text: a value, or one of the errors that callers know; any other error is thrown. */
function outcomeOf(text: string, createReader: () => ResponseReader<unknown>): 'value' | 'known error' {
  const reader = createReader();
  try {
    reader.write(Buffer.from(text));
    reader.end();
    return 'value';
  } catch (error) {
    if ([SyntaxError, ShapeError, UpstreamRpcError].some((known) => error instanceof known)) return 'known error';
    throw error;
  }
}

test.each(readers)('whatever is changed in %s, it is read or refused with a known error', (name, createReader) => {
  const recorded = parseJson(readFixture(name));
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyMutations, (changes) => {
      seen.add(outcomeOf(print(mutateAll(recorded, changes)) ?? '', createReader));
    }),
    { numRuns: 200 },
  );
  expect(seen).toContain('known error');
  if (name !== 'node/error') expect(seen).toContain('value');
});

test.each(readers)(
  'wherever %s is cut off or damaged, it is read or refused with a known error',
  (name, createReader) => {
    const recorded = readFixture(name).trim();
    const place = fc.nat({ max: recorded.length - 1 });
    fc.assert(
      fc.property(place, fc.nat({ max: 5 }), fc.string({ maxLength: 3 }), (at, length, instead) => {
        outcomeOf(recorded.slice(0, at) + instead + recorded.slice(at + length), createReader);
        expect(outcomeOf(recorded.slice(0, at), createReader)).toBe('known error');
      }),
      { numRuns: 200 },
    );
  },
);
