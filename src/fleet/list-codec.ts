import { randomUUID } from 'node:crypto';
import type { Pair, Ticker } from '../domain/market.ts';
import { createTurnLimit } from '../live/broadcast/turn-limit.ts';
import {
  readArray,
  readInteger,
  readObject,
  readString,
  readTimestamp,
  readTokenId,
  toFiniteNumber,
} from '../upstream/wire.ts';
import { createByteReader, RefusedMessageError, text } from './byte-reader.ts';

/** A list of the market-data host as another replica has read it. */
export type SharedList<P extends Pair> = {
  /** The same array while no row has changed, and the same objects for rows that have not. */
  readonly rows: readonly P[];
  readonly dropped: number;
  /** How long ago it had been read when it was published, in milliseconds. */
  readonly ageMs: number;
  /** From when it was read until it is read again, in milliseconds. */
  readonly intervalMs: number;
  /** When its read began and ended, by the clock of Redis in milliseconds. */
  readonly beganAt: number;
  readonly endedAt: number;
};

/** Writes the list whenever it was read: all rows first, then those that have changed. */
export type ListWriter<P extends Pair> = {
  write(list: SharedList<P>): Promise<{ readonly payload: Buffer; readonly isKeyframe: boolean }>;
  /** The next message has all rows. */
  restart(): void;
};

/** Reads what a {@link ListWriter} has written, in order. */
type ListReader<P extends Pair> = {
  /** @throws RefusedMessageError */
  read(payload: Buffer): Promise<SharedList<P>>;
};

/** Number of messages from one with all rows to the next. */
const MESSAGES_PER_KEYFRAME = 30;

/** Rows that are written or read in one turn of the event loop: a millisecond of work. */
const ROWS_PER_TURN = 500;

/** Ten times the rows of a large exchange. */
const MAX_ROWS = 100_000;

/** A row as JSON, and back. */
type RowCodec<P extends Pair> = { toJson(row: P): readonly unknown[]; read(row: readonly unknown[]): P };

/** Pairs. */
export const PAIR_ROWS: RowCodec<Pair> = { toJson: pairToJson, read: readPair };

/** Tickers. */
export const TICKER_ROWS: RowCodec<Ticker> = {
  toJson: (row) => [
    ...pairToJson(row),
    ...[row.lastPrice, row.baseVolume, row.targetVolume].map((each) => each ?? null),
  ],
  read: (row) => ({
    ...readPair(row),
    lastPrice: toFiniteNumber(row[6]),
    baseVolume: toFiniteNumber(row[7]),
    targetVolume: toFiniteNumber(row[8]),
  }),
};

function pairToJson({ tickerId, baseId, base, targetId, target, poolId }: Pair): readonly unknown[] {
  return [tickerId, baseId, base, targetId, target, poolId];
}

function readPair([tickerId, baseId, base, targetId, target, poolId]: readonly unknown[]): Pair {
  return {
    tickerId: readString(tickerId, '$[0]'),
    baseId: readTokenId(baseId, '$[1]'),
    base: readString(base, '$[2]'),
    targetId: readTokenId(targetId, '$[3]'),
    target: readString(target, '$[4]'),
    poolId: readString(poolId, '$[5]'),
  };
}

/** Creates a writer, whose first message has all rows. */
export function createListWriter<P extends Pair>({ toJson }: RowCodec<P>): ListWriter<P> {
  let keyframe = '';
  let step = MESSAGES_PER_KEYFRAME;
  let previous: readonly P[] = [];

  return {
    async write({ rows, ...times }) {
      const before = previous;
      previous = rows;
      const isKeyframe = step >= MESSAGES_PER_KEYFRAME || rows.length !== before.length;
      if (isKeyframe) keyframe = randomUUID();
      step = isKeyframe ? 0 : step + 1;

      const turns = createTurnLimit(ROWS_PER_TURN);
      const lines: string[] = [];
      for (const [index, row] of rows.entries()) {
        if (rows === before && !isKeyframe) break;
        await turns.wait();
        if (isKeyframe) lines.push(JSON.stringify(toJson(row)));
        else if (row !== before[index]) lines.push(JSON.stringify([index, ...toJson(row)]));
      }
      const facts = { keyframe, step, rows: rows.length, ...times };
      return { payload: Buffer.concat([text(JSON.stringify(facts)), Buffer.from(lines.join('\n'))]), isKeyframe };
    },
    restart() {
      step = MESSAGES_PER_KEYFRAME;
    },
  };
}

/** Creates a reader, which needs a message with all rows first. */
export function createListReader<P extends Pair>({ read: readRow }: RowCodec<P>): ListReader<P> {
  let last: { readonly keyframe: string; readonly step: number; readonly rows: readonly P[] } | undefined;

  async function read(payload: Buffer): Promise<SharedList<P>> {
    const reader = createByteReader(payload);
    const facts = readObject(JSON.parse(reader.text()), '$');
    const keyframe = readString(facts['keyframe'], '$.keyframe');
    const step = readInteger(facts['step'], '$.step');
    const count = readInteger(facts['rows'], '$.rows');
    if (count > MAX_ROWS) throw new RefusedMessageError('size', `a list has more than ${MAX_ROWS} rows`);
    const before = last;
    if (step > 0 && (before?.keyframe !== keyframe || before.step !== step - 1 || before.rows.length !== count))
      throw new RefusedMessageError('gap', 'a message has the changes of a list that is not known');

    const turns = createTurnLimit(ROWS_PER_TURN);
    const changed = step === 0 ? [] : [...(before?.rows ?? [])];
    const lines = reader.rest().toString();
    for (const line of lines === '' ? [] : lines.split('\n')) {
      await turns.wait();
      const row = readArray(JSON.parse(line), '$');
      if (step === 0) changed.push(readRow(row));
      else changed[placeOf(row[0], count)] = readRow(row.slice(1));
    }
    if (changed.length !== count) throw new RefusedMessageError('damaged', 'a list has the wrong number of rows');
    const rows = lines === '' && step > 0 && before !== undefined ? before.rows : changed;
    last = { keyframe, step, rows };
    return {
      rows,
      dropped: readInteger(facts['dropped'], '$.dropped'),
      ageMs: readTimestamp(facts['ageMs'], '$.ageMs'),
      intervalMs: readTimestamp(facts['intervalMs'], '$.intervalMs'),
      beganAt: readTimestamp(facts['beganAt'], '$.beganAt'),
      endedAt: readTimestamp(facts['endedAt'], '$.endedAt'),
    };
  }

  return {
    read: (payload) =>
      read(payload).catch((error) => {
        throw error instanceof RefusedMessageError ? error : new RefusedMessageError('damaged', String(error));
      }),
  };
}

function placeOf(index: unknown, count: number): number {
  const place = readInteger(index, '$[0]');
  if (place >= count) throw new RefusedMessageError('damaged', 'a change names a row that does not exist');
  return place;
}
