import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ChainInfo } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { createDocumentReader, createSievedReader, type Reader } from '../decode.ts';
import { readInteger, type WireObject } from '../wire.ts';
import { readChainInfo } from './chain-info.ts';
import { createExchangeStateReader, type KnownExchange } from './exchange-state.ts';

/** What is parsed at once. `getblockchaininfo` has some 20 KB, and what is kept of the others less. */
const MAX_DOCUMENT_BYTES = 8 * 2 ** 20;

/** The result in an envelope, for the call that it is the answer to. @throws Misfit, UpstreamRpcError */
export type ResultOf = (document: unknown) => WireObject;

/** Makes the reader of an answer to `getblockchaininfo`, whole. */
export function createChainInfoReader(resultOf: ResultOf): Reader<ChainInfo> {
  return createDocumentReader(MAX_DOCUMENT_BYTES, (document) => readChainInfo(resultOf(document)));
}

/** Makes the reader of an answer to `getbeaconbeststatedetail`, of which the height alone is kept. */
export function createBeaconHeightReader(resultOf: ResultOf): Reader<BeaconHeight> {
  const sieved = { within: 'Result', keep: ['BeaconHeight'], maxBytes: MAX_DOCUMENT_BYTES };
  return createSievedReader(sieved, (document) =>
    readInteger(resultOf(document)['BeaconHeight'], '$.Result.BeaconHeight'),
  );
}

/** Makes the reader of an answer to `getpdestate` at that height: each pool is read when it has come, and the rest dropped. */
export function createStateReader(
  height: BeaconHeight,
  resultOf: ResultOf,
  known: KnownExchange,
): Reader<ExchangeState> {
  const state = createExchangeStateReader(height, known);
  const { begin, addExpected, add } = state;
  const each = { name: 'PDEPoolPairs', begin, addExpected, add };
  const sieved = { within: 'Result', keep: ['BeaconTimeStamp'], each, maxBytes: MAX_DOCUMENT_BYTES };
  return createSievedReader(sieved, (document) => state.end(resultOf(document)));
}
