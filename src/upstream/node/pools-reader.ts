import { hasPools, type PoolDirectory, toPoolDirectory } from '../../domain/exchange.ts';
import { type Instant, toInstant } from '../../domain/instant.ts';
import { parseJson } from '../json.ts';
import { createFilteredReader } from '../json-filter.ts';
import type { JsonParts } from '../json-parts.ts';
import type { ResponseReader } from '../response-body.ts';
import { readObject, ShapeError, TooLargeError, type WireObject } from '../wire.ts';
import type { ResultOf } from './envelope.ts';

/** The directories of the states that were read last. States with the same pools share one. */
export type PoolDirectories = ReturnType<typeof createPoolDirectories>;

/** Earlier heights can have other pools than the newest. */
const MAX_DIRECTORIES = 8;

/** Creates an empty collection of directories. */
export function createPoolDirectories() {
  let directories: readonly PoolDirectory[] = [];

  return {
    /** The ids of the pools in the previous state. */
    newestIds: () => directories[0]?.ids ?? [],
    /** The directory of these pools. @param ids in ascending order, each once */
    of(ids: readonly string[]): PoolDirectory {
      const directory = directories.find((known) => hasPools(known, ids)) ?? toPoolDirectory(ids, directories[0]);
      directories = [directory, ...directories.filter((other) => other !== directory)].slice(0, MAX_DIRECTORIES);
      return directory;
    },
  };
}

/** Collects the pools of a response, which arrive one by one. */
export type PoolCollector<T> = {
  /** How many pools were added. */
  size(): number;
  /** Adds a pool. Of several with one key, the last counts. @param key in lower case @throws ShapeError */
  add(key: string, pool: unknown): void;
  /** The value of the response. */
  end(time: Instant | undefined): T;
};

/** How a response with pools is read. */
type PoolsOptions<T> = {
  readonly resultOf: ResultOf;
  /** The member of the result that has the pools. */
  readonly name: string;
  readonly maxPools: number;
  /** Starts to collect. It is called again if a document has the member twice: then the last one counts. */
  readonly collect: () => PoolCollector<T>;
  readonly innerLists?: JsonParts['innerLists'];
};

/** Bytes that are kept beside the pools. */
const MAX_KEPT_BYTES = 8 * 2 ** 20;

/**
 * Creates the reader of one response with pools. Only the pools and the time are kept; everything else, such as shares and fees, is
 * skipped. Each pool is parsed as soon as it has arrived, so that no response blocks the event loop.
 *
 * In the order in which bytes pass:
 * 1. `readResponseBody` takes each chunk as it arrives, decompressed. After 2 ms of work it yields to the event loop.
 * 2. The JSON filter looks for the end of what is skipped, keeps the few hundred bytes around the pools, and cuts out each
 *    pool.
 * 3. Each pool is parsed and checked.
 * 4. At the end the kept bytes are parsed, and the envelope is checked as that of any other response.
 */
export function createPoolsReader<T>(options: PoolsOptions<T>): ResponseReader<T> {
  const { resultOf, name, maxPools, collect, innerLists } = options;
  let pools = collect();
  /** Why pools cannot be read, by key. It is thrown at the end: the envelope may contain an error, or belong to another request. */
  const errors = new Map<string, ShapeError>();

  const parts: JsonParts = {
    name,
    isList: false,
    begin() {
      if (pools.size() > 0) pools = collect();
      errors.clear();
    },
    take(member) {
      const { key, value } = parseMember(member.toString());
      // Also to look for a string that is not there, V8 copies it to the old generation.
      if (errors.size > 0) errors.delete(key);
      try {
        pools.add(key, value);
      } catch (error) {
        if (!(error instanceof ShapeError)) throw error;
        errors.set(key, error);
      }
      if (pools.size() + errors.size > maxPools) throw new TooLargeError(`${maxPools} pools`);
    },
    innerLists,
  };

  const filter = { within: 'Result', keep: ['BeaconTimeStamp'], parts, maxBytes: MAX_KEPT_BYTES };
  return createFilteredReader(filter, (document) => {
    const result = resultOf(document);
    readObject(result[name], `$.Result.${name}`);
    const [error] = errors.values();
    if (error !== undefined) throw error;
    return pools.end(readStateTime(result));
  });
}

/** The time of the block after which the exchange has this state; `undefined` if the node does not report it. */
export function readStateTime(result: WireObject): Instant | undefined {
  const time = result['BeaconTimeStamp'];
  return Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined;
}

/** The key of a member, and the offset of its value. */
const KEY = /^[\t\n\r ]*("[^"\\]*(?:\\.[^"\\]*)*")[\t\n\r ]*:/s;

/**
 * Parses `"key": value`. With the key in an object, V8 would store each key as a property name, outside of the young generation:
 * with ten thousand pools a height, that would be most of the garbage.
 *
 * @returns the key in lower case @throws SyntaxError
 */
function parseMember(text: string): { key: string; value: unknown } {
  const [start, key] = KEY.exec(text) ?? [];
  if (start === undefined || key === undefined) throw new SyntaxError('a member without a key');
  return { key: JSON.parse(key).toLowerCase(), value: parseJson(text.slice(start.length)) };
}
