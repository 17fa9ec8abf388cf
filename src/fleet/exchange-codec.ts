import { createHash } from 'node:crypto';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type ExchangeState, type PoolDirectory, toPoolDirectory } from '../domain/exchange.ts';
import { changedPlaces } from '../domain/pool-selection.ts';
import { type ByteReader, createByteReader, RefusedMessageError, u32 } from './byte-reader.ts';

/**
 * States as bytes, in the form of memory: a keyframe is the directory and all reserves, and the states after it are the
 * places and reserves that have changed.
 */
type ExchangeWriter = {
  /** @returns the bytes of a state, and whether it is a keyframe */
  write(state: ExchangeState, mustBeKeyframe: boolean): { readonly bytes: Buffer; readonly isKeyframe: boolean };
};

/** Reads states. What was read stays as it is if a state is refused. */
type ExchangeReader = {
  /** @throws RefusedMessageError, with the reason `gap` for changes of another state than the last one */
  read(bytes: Buffer, facts: Pick<ExchangeState, 'beaconHeight' | 'time'>): ExchangeState;
};

const KEYFRAME = 1;
const CHANGES = 2;

const BYTES_PER_POOL = 16;
const BYTES_PER_CHANGE = 4 + BYTES_PER_POOL;
const BYTES_PER_TOKEN = 32;
const FINGERPRINT_BYTES = 16;

/** As many as a node may report. */
const MAX_POOLS = 100_000;

/** Creates a writer, whose first state is a keyframe. */
export function createExchangeWriter(): ExchangeWriter {
  let previous: ExchangeState | undefined;
  let directory: DirectoryBytes | undefined;

  return {
    write(state, mustBeKeyframe) {
      if (directory?.directory !== state.directory) directory = writeDirectory(state.directory);
      const before = previous;
      previous = state;
      if (mustBeKeyframe || before?.directory !== state.directory)
        return { bytes: keyframe(state, directory), isKeyframe: true };
      return { bytes: changes(state, before), isKeyframe: false };
    },
  };
}

/** The bytes of a directory, with a fingerprint by which a reader finds that it has read them before. */
type DirectoryBytes = { readonly directory: PoolDirectory; readonly bytes: Buffer; readonly fingerprint: Buffer };

/** The token ids, and the places of both tokens of each pool among them. */
function writeDirectory(directory: PoolDirectory): DirectoryBytes {
  const tokens = [...directory.placesOfToken.keys()];
  const places = new Map(tokens.map((tokenId, place) => [tokenId, place]));
  const pairs = new Uint32Array(2 * directory.ids.length);
  for (const place of directory.ids.keys()) {
    pairs[2 * place] = places.get(directory.token1Ids[place] ?? '') ?? 0;
    pairs[2 * place + 1] = places.get(directory.token2Ids[place] ?? '') ?? 0;
  }
  const ids = tokens.map((tokenId) => Buffer.from(tokenId, 'hex'));
  const bytes = Buffer.concat([u32(tokens.length), ...ids, u32(directory.ids.length), Buffer.from(pairs.buffer)]);
  return { directory, bytes, fingerprint: fingerprintOf(bytes) };
}

function fingerprintOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest().subarray(0, FINGERPRINT_BYTES);
}

function keyframe({ reserves }: ExchangeState, { bytes, fingerprint }: DirectoryBytes): Buffer {
  return Buffer.concat([Buffer.from([KEYFRAME]), fingerprint, u32(bytes.length), bytes, bytesOf(reserves)]);
}

function changes(state: ExchangeState, before: ExchangeState): Buffer {
  const { directory, reserves } = state;
  const changed = changedPlaces(state, [...directory.ids.keys()], before);
  const all = bytesOf(reserves);
  const heights = new BigUint64Array([BigInt(before.beaconHeight)]);
  const bytes = Buffer.allocUnsafe(changed.length * BYTES_PER_CHANGE);
  for (const [index, place] of changed.entries()) {
    bytes.writeUInt32LE(place, index * BYTES_PER_CHANGE);
    all.copy(bytes, index * BYTES_PER_CHANGE + 4, place * BYTES_PER_POOL, (place + 1) * BYTES_PER_POOL);
  }
  return Buffer.concat([Buffer.from([CHANGES]), bytesOf(heights), u32(directory.ids.length), bytes]);
}

/** The memory of the reserves: little-endian on every machine that runs Node. */
function bytesOf({ buffer, byteOffset, byteLength }: BigUint64Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Creates a reader, which needs a keyframe first. */
export function createExchangeReader(): ExchangeReader {
  let previous: ExchangeState | undefined;
  let known: { readonly directory: PoolDirectory; readonly fingerprint: Buffer } | undefined;

  function readKeyframe(reader: ByteReader): Pick<ExchangeState, 'directory' | 'reserves'> {
    const fingerprint = Buffer.from(reader.bytes(FINGERPRINT_BYTES));
    const bytes = reader.bytes(reader.u32());
    if (known === undefined || !known.fingerprint.equals(fingerprint)) {
      if (!fingerprintOf(bytes).equals(fingerprint)) throw new RefusedMessageError('damaged', 'a directory is damaged');
      known = { directory: readDirectory(bytes, known?.directory), fingerprint };
    }
    const { directory } = known;
    const reserves = new BigUint64Array(2 * directory.ids.length);
    reader.bytes(reserves.byteLength).copy(bytesOf(reserves));
    return { directory, reserves };
  }

  function readChanges(reader: ByteReader): Pick<ExchangeState, 'directory' | 'reserves'> {
    const height: BeaconHeight = Number(reader.bytes(8).readBigUInt64LE());
    const pools = reader.u32();
    if (previous?.beaconHeight !== height || previous.directory.ids.length !== pools)
      throw new RefusedMessageError('gap', 'a message has the changes of a state that is not known');
    const { directory } = previous;
    const reserves = previous.reserves.slice();
    const all = bytesOf(reserves);
    const bytes = reader.rest();
    if (bytes.length % BYTES_PER_CHANGE > 0) throw new RefusedMessageError('damaged', 'a change is too short');
    for (let at = 0; at < bytes.length; at += BYTES_PER_CHANGE) {
      const place = bytes.readUInt32LE(at);
      if (place >= pools) throw new RefusedMessageError('damaged', 'a change names a pool that does not exist');
      bytes.copy(all, place * BYTES_PER_POOL, at + 4, at + BYTES_PER_CHANGE);
    }
    return { directory, reserves };
  }

  return {
    read(bytes, { beaconHeight, time }) {
      const reader = createByteReader(bytes);
      const kind = reader.u8();
      if (kind !== KEYFRAME && kind !== CHANGES)
        throw new RefusedMessageError('damaged', 'a state has an unknown kind');
      const state = { beaconHeight, time, ...(kind === KEYFRAME ? readKeyframe(reader) : readChanges(reader)) };
      reader.end();
      previous = state;
      return state;
    },
  };
}

function readDirectory(bytes: Buffer, similar: PoolDirectory | undefined): PoolDirectory {
  const reader = createByteReader(bytes);
  const tokens = Array.from({ length: atMost(2 * MAX_POOLS, reader.u32()) }, () =>
    reader.bytes(BYTES_PER_TOKEN).toString('hex'),
  );
  const pools = atMost(MAX_POOLS, reader.u32());
  const ids: string[] = [];
  for (let place = 0; place < pools; place++) {
    const [token1Id, token2Id] = [tokens[reader.u32()], tokens[reader.u32()]];
    if (token1Id === undefined || token2Id === undefined)
      throw new RefusedMessageError('damaged', 'a pool has no token');
    const id = `${token1Id}-${token2Id}`;
    if (place > 0 && (ids[place - 1] ?? '') >= id) throw new RefusedMessageError('damaged', 'pools are not in order');
    ids.push(id);
  }
  reader.end();
  return toPoolDirectory(ids, similar);
}

function atMost(max: number, count: number): number {
  if (count > max) throw new RefusedMessageError('size', `a directory has more than ${max} entries`);
  return count;
}
