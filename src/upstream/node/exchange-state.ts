import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { createExchangeDraft } from '../../domain/exchange-draft.ts';
import { toInstant } from '../../domain/instant.ts';
import type { PoolDirectories } from '../../domain/pool-directory.ts';
import { type PoolPair, poolPairKey } from '../../domain/pool-pair.ts';
import { Excess, Misfit, readObject, readTokenId, readUint64, type WireObject } from '../wire.ts';
import { createKnownPools } from './known-pool.ts';
import type { WrittenPools } from './written-pools.ts';

const POOLS = '$.Result.PDEPoolPairs';
const POOL = `${POOLS}[…]`;

/** Ten times the pools of a large exchange. */
const MAX_POOLS = 100_000;

/** Reads the result of one `getpdestate`: its pools as they come, then the rest. */
export type ExchangeStateReader = {
  /** The pools begin. A document can name them twice: then the last count. */
  begin(): void;
  /** Takes the pool that begins there, if it is the one that is expected and whole. @returns the place behind it */
  addExpected(bytes: Buffer, from: number): number | undefined;
  /** Takes one pool; where its key came before, it replaces that one. @throws Excess for more than any exchange has */
  add(key: string, value: unknown): void;
  /** @throws Misfit, also where the keys name another height, as the answer to another question would */
  end(result: WireObject): ExchangeState;
};

/** What is known of an exchange before its state at some height is read. */
export type KnownExchange = { readonly directories: PoolDirectories; readonly written: WrittenPools };

/**
 * Makes the reader of the state at that height. Of its five sections only the pools and the time are read: shares and
 * fees, most of the answer, are not asked for by anyone.
 *
 * A pool that does not fit waits for the end: the envelope may say that all of it is an error, or meant for someone else.
 */
export function createExchangeStateReader(
  beaconHeight: BeaconHeight,
  { directories, written }: KnownExchange,
): ExchangeStateReader {
  const createPools = () => createKnownPools({ beaconHeight, directory: directories.newest(), written });
  let knownPools = createPools();
  let draft = createExchangeDraft(beaconHeight, directories);
  let misfits = new Map<string, Misfit>();

  return {
    begin() {
      knownPools = createPools();
      draft = createExchangeDraft(beaconHeight, directories);
      misfits = new Map();
    },
    addExpected(bytes, from) {
      const place = draft.expectedPlace();
      // Where a pool did not fit, the same can come again, and has to be looked for by its key.
      const end = place === undefined || misfits.size > 0 ? undefined : knownPools.read(bytes, from, place);
      if (end !== undefined) draft.addExpected(knownPools.reserve1(), knownPools.reserve2());
      return end;
    },
    add(key, value) {
      misfits.delete(key);
      try {
        draft.add(readPoolPair(key, readObject(value, POOL), beaconHeight));
      } catch (error) {
        if (!(error instanceof Misfit)) throw error;
        misfits.set(key, error);
      }
      if (draft.length() + misfits.size > MAX_POOLS) throw new Excess(`${MAX_POOLS} pools`);
    },
    end(result) {
      readObject(result['PDEPoolPairs'], POOLS);
      const [misfit] = misfits.values();
      if (misfit !== undefined) throw misfit;

      const time = result['BeaconTimeStamp'];
      return draft.toState(Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined);
    },
  };
}

function readPoolPair(key: string, value: WireObject, beaconHeight: BeaconHeight): PoolPair {
  const pool: PoolPair = {
    beaconHeight,
    token1Id: readTokenId(value['Token1IDStr'], `${POOL}.Token1IDStr`),
    token2Id: readTokenId(value['Token2IDStr'], `${POOL}.Token2IDStr`),
    reserve1: readUint64(value['Token1PoolValue'], `${POOL}.Token1PoolValue`),
    reserve2: readUint64(value['Token2PoolValue'], `${POOL}.Token2PoolValue`),
  };
  if (key.toLowerCase() !== poolPairKey(pool))
    throw new Misfit(`keys with height ${beaconHeight} and the token ids of the pool`, POOLS);
  return pool;
}
