import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import { toInstant } from '../../domain/instant.ts';
import { type PoolPair, poolPairKey } from '../../domain/pool-pair.ts';
import type { ResponseReader } from '../body.ts';
import { createFilteredReader } from '../json-filter.ts';
import { parseMember } from '../json-member.ts';
import { isSpace } from '../json-parts.ts';
import { readObject, readTokenId, readUint64, ShapeError, TooLargeError, type WireObject } from '../wire.ts';
import type { ResultOf } from './envelope.ts';
import { createPreviousPools } from './previous-pools.ts';
import { createPoolDirectories, createStateBuilder, type PoolDirectories } from './state-builder.ts';

/**
 * Reads responses of `getpdestate`, which have up to 30 MB. Only the pools and the time are kept; shares and fees, most of
 * the response, are skipped.
 *
 * In the order in which bytes pass:
 * 1. `readBody` takes each chunk as it arrives, decompressed. After 2 ms of work it yields to the event loop.
 * 2. The JSON filter looks for the end of what is skipped, keeps the few hundred bytes around the pools, and cuts out each
 *    pool.
 * 3. Most pools have the same bytes as at the height before, without the height in their keys. One comparison shows it,
 *    and their reserves are known.
 * 4. Any other pool is parsed and checked.
 * 5. Each pool adds two numbers to the state. The ids are in a directory that consecutive states share.
 * 6. At the end the kept bytes are parsed, and the envelope is checked as that of any other response.
 */
export type StateReader = {
  /**
   * Starts to read one response.
   *
   * @param isNewest whether the next state is similar to this one, so that its bytes are stored for the comparison
   */
  read(height: BeaconHeight, resultOf: ResultOf, isNewest: boolean): ResponseReader<ExchangeState>;
};

/** Bytes that are kept beside the pools. */
const MAX_KEPT_BYTES = 8 * 2 ** 20;

/** Ten times the pools of a large exchange. */
const MAX_POOLS = 100_000;

const POOLS = '$.Result.PDEPoolPairs';
const POOL = `${POOLS}[…]`;

/**
 * Creates a reader, which nodes of the same chain can share.
 *
 * @param directories shared with whatever else reads states of that chain
 */
export function createStateReader(directories: PoolDirectories = createPoolDirectories()): StateReader {
  const previous = createPreviousPools();

  function startPools(beaconHeight: BeaconHeight) {
    const directory = directories.newest();
    return {
      directory,
      builder: createStateBuilder(beaconHeight, directories),
      /** By key. They are thrown at the end: the envelope may contain an error, or belong to another request. */
      errors: new Map<string, ShapeError>(),
    };
  }

  return {
    read(beaconHeight, resultOf, isNewest) {
      let pools = startPools(beaconHeight);
      const keyStart = Buffer.from(`"pdepool-${beaconHeight}-`);

      /** The member without white space before it and without the height in its key; `undefined` if it has another key. */
      function withoutHeight(member: Buffer): Buffer | undefined {
        let from = 0;
        while (isSpace(member[from] ?? 0)) from += 1;
        const end = from + keyStart.length;
        const isPool = end <= member.length && keyStart.compare(member, from, end) === 0;
        return isPool ? member.subarray(end) : undefined;
      }

      function take(member: Buffer): void {
        const { builder, directory, errors } = pools;
        const text = withoutHeight(member);
        const expected = builder.expectedPlace();
        // After an error, the same key can come again and replace it. Only the parser finds it.
        if (text !== undefined && directory !== undefined && expected !== undefined && errors.size === 0) {
          const pool = previous.find(directory, expected, text);
          if (pool !== undefined) {
            builder.addExpected(pool.reserve1, pool.reserve2);
            return;
          }
        }
        const { key, value } = parseMember(member.toString());
        errors.delete(key);
        try {
          const pool = readPoolPair(key, readObject(value, POOL), beaconHeight);
          const place = builder.add(pool);
          if (isNewest && directory !== undefined && place !== undefined && text !== undefined)
            previous.store(directory, place, text, pool);
        } catch (error) {
          if (!(error instanceof ShapeError)) throw error;
          errors.set(key, error);
        }
        if (builder.poolCount() + errors.size > MAX_POOLS) throw new TooLargeError(`${MAX_POOLS} pools`);
      }

      const parts = {
        name: 'PDEPoolPairs',
        isList: false,
        // A document can have the member twice. Then the last one counts.
        begin() {
          pools = startPools(beaconHeight);
        },
        take,
      };

      function toState(result: WireObject): ExchangeState {
        readObject(result['PDEPoolPairs'], POOLS);
        const [error] = pools.errors.values();
        if (error !== undefined) throw error;
        const time = result['BeaconTimeStamp'];
        return pools.builder.build(Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined);
      }

      const filter = { within: 'Result', keep: ['BeaconTimeStamp'], parts, maxBytes: MAX_KEPT_BYTES };
      return createFilteredReader(filter, (document) => toState(resultOf(document)));
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
    throw new ShapeError(`keys with height ${beaconHeight} and the token ids of the pool`, POOLS);
  return pool;
}
