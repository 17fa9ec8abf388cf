import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ExchangeState, PoolDirectory } from '../domain/exchange.ts';
import type { FinalHeight } from '../live/chain/past-states.ts';
import type { ReadOnce } from '../live/read-once.ts';
import type { Redis } from './redis.ts';
import { createSharedReads, type SharedReadsWatcher } from './shared-reads.ts';
import { parseJson } from './shared-value.ts';

type SharedStatesOptions = {
  readonly redis: Pick<Redis, 'command' | 'fleetKey' | 'isAvailable' | 'key' | 'run'>;
  readonly maxWaitMs: number;
  /** The directory of pools with these ids, which are in ascending order. States with the same pools share one. */
  readonly directoryOf: (ids: readonly string[]) => PoolDirectory;
  readonly watcher: SharedReadsWatcher;
};

/** Each replica has the states that it used last in memory, for longer. */
const TTL_MS = 10 * 60_000;
/** The ids of the pools are stored once for many states. They expire this time after the last state that was written. */
const DIRECTORY_TTL_MS = 2 * TTL_MS;

/** The number of states in Redis: as many as fit into this number of bytes, within two limits. */
const MAX_TOTAL_BYTES = 64 * 2 ** 20;
const MAX_STATES = 1_024;
const MIN_STATES = 16;

/** As the reader of responses of nodes. */
const MAX_POOLS = 100_000;

const MAX_DIRECTORIES = 8;

const TOKEN_BYTES = 32;

/**
 * Creates the reads of final states, which the replicas of a fleet share in Redis.
 *
 * A state is stored as it is in memory: the height of its block, its time, two numbers of 64 bits for each pool, little-endian,
 * and the SHA-256 of the ids of the pools. The ids are stored under this hash, 64 bytes for each pool.
 */
export function createSharedStates(options: SharedStatesOptions): ReadOnce<FinalHeight, ExchangeState> {
  const { redis, maxWaitMs, directoryOf, watcher } = options;
  const known = new LRUCache<string, PoolDirectory>({ max: MAX_DIRECTORIES });
  const digests = new WeakMap<PoolDirectory, string>();
  const keyOf = (digest: string) => redis.key('pools', digest);

  /** Makes sure that Redis has a directory. @throws Error if Redis cannot be used */
  async function writeDirectory(directory: PoolDirectory): Promise<string> {
    const digest = digests.get(directory) ?? digestOf(toBytes(directory));
    digests.set(directory, digest);
    const key = keyOf(digest);
    if ((await redis.command(key, 'PEXPIRE', key, String(DIRECTORY_TTL_MS))) !== 1)
      await redis.command(key, 'SET', key, toBytes(directory), 'PX', String(DIRECTORY_TTL_MS));
    return digest;
  }

  /** @returns `undefined` if Redis does not have it, or something else. @throws Error if Redis cannot be used */
  async function readDirectory(digest: string): Promise<PoolDirectory | undefined> {
    const directory = known.get(digest);
    if (directory !== undefined) return directory;
    const key = keyOf(digest);
    const bytes = await redis.command(key, 'GET', key);
    const ids = Buffer.isBuffer(bytes) && digestOf(bytes) === digest ? toIds(bytes) : undefined;
    if (ids === undefined) {
      await redis.command(key, 'UNLINK', key);
      return undefined;
    }
    const read = directoryOf(ids);
    known.set(digest, read);
    digests.set(read, digest);
    return read;
  }

  const reads = createSharedReads<ExchangeState | undefined>({
    redis,
    kind: 'state',
    ttlMs: TTL_MS,
    maxWaitMs,
    async encode(state) {
      if (state === undefined) return undefined;
      const directory = await writeDirectory(state.directory);
      const header = JSON.stringify({ height: state.beaconHeight, time: state.time ?? null, directory });
      const { buffer, byteOffset, byteLength } = state.reserves;
      return Buffer.concat([Buffer.from(`${header}\n`), Buffer.from(buffer, byteOffset, byteLength)]);
    },
    async decode(bytes, id) {
      const end = bytes.indexOf('\n');
      const header = parseJson(bytes.subarray(0, Math.max(0, end)).toString());
      const { height, time, directory: digest } = header ?? {};
      if (!Number.isSafeInteger(height) || !id.endsWith(`-${height}`)) return undefined;
      if (time !== null && !Number.isSafeInteger(time)) return undefined;
      if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/.test(digest)) return undefined;
      const directory = await readDirectory(digest);
      const reserves = bytes.subarray(end + 1);
      if (directory === undefined || reserves.length !== directory.ids.length * 16) return undefined;
      return {
        beaconHeight: height as number,
        time: time === null ? undefined : (time as number),
        directory,
        reserves: toNumbers(reserves),
      };
    },
    maxValues: (bytes) => Math.min(MAX_STATES, Math.max(MIN_STATES, Math.floor(MAX_TOTAL_BYTES / bytes))),
    watcher,
  });

  return async ({ chainName, height, isComplete }, read) => {
    const id = `${chainName}-${height}`;
    /** What was read last, also a state that is not shared because it lost pools. */
    let own: ExchangeState | undefined;
    const { value } = await reads(id, async () => {
      own = await read();
      return isComplete(own) ? own : undefined;
    });
    if (own !== undefined) return own;
    // Pools never vanish, so that a state with fewer is not that of this chain.
    return value !== undefined && isComplete(value) ? value : read();
  };
}

/** The ids in ascending order, as bytes. */
function toBytes({ ids }: PoolDirectory): Buffer {
  return Buffer.from(ids.map((id) => id.replace('-', '')).join(''), 'hex');
}

/** @returns `undefined` if the bytes are not ids in ascending order, each once */
function toIds(bytes: Buffer): readonly string[] | undefined {
  const size = 2 * TOKEN_BYTES;
  if (bytes.length % size !== 0 || bytes.length / size > MAX_POOLS) return undefined;
  const ids = Array.from({ length: bytes.length / size }, (_, index) => {
    const text = bytes.toString('hex', index * size, (index + 1) * size);
    return `${text.slice(0, size)}-${text.slice(size)}`;
  });
  return ids.every((id, index) => index === 0 || (ids[index - 1] ?? '') < id) ? ids : undefined;
}

/** A copy, because the bytes may begin anywhere. */
function toNumbers(bytes: Buffer): BigUint64Array {
  const numbers = new BigUint64Array(bytes.length / 8);
  new Uint8Array(numbers.buffer).set(bytes);
  return numbers;
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
