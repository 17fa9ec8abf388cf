import { listOf, type Redis } from './redis.ts';
import type { RedisReply } from './redis-client.ts';

/** The streams of a fleet: heads, the lists of the market, and what the leader knows of the upstreams. */
const STREAMS = ['heads', 'lists', 'status'] as const;

/** The name of a stream. */
export type StreamName = (typeof STREAMS)[number];

/** An entry of a stream. */
export type StreamEntry = {
  readonly stream: StreamName;
  readonly id: string;
  /** When Redis added it, in its own time. */
  readonly addedAt: number;
  readonly bytes: Buffer;
};

/** Reads the streams in order. */
type StreamPosition = {
  /** The next entries, at once. @throws RedisUnavailableError */
  next(): Promise<readonly StreamEntry[]>;
  /** Waits for the next entries, at most for this time. @throws RedisUnavailableError */
  wait(ms: number): Promise<readonly StreamEntry[]>;
  /** The id of the last entry of a stream that was returned. */
  lastId(stream: StreamName): string;
};

/** Entries that are read together. Each may have the size of a keyframe. */
const ENTRIES_AT_ONCE = '16';

/** Before the first entry of a stream. */
const START = '0-0';

/** Whether a stream has an entry after this one. @throws RedisUnavailableError */
export async function hasEntryAfter(redis: Redis, stream: StreamName, id: string): Promise<boolean> {
  const key = redis.fleetKey(stream);
  return (await redis.command(key, 'XREAD', 'COUNT', '1', 'STREAMS', key, id)) !== null;
}

/** Starts before the first entry of each stream. */
export function readStreams(redis: Redis): StreamPosition {
  const keys = STREAMS.map(redis.fleetKey) as [string, ...string[]];
  const [key] = keys;
  const ids = new Map<StreamName, string>(STREAMS.map((stream) => [stream, START]));

  function advance(reply: RedisReply): readonly StreamEntry[] {
    const entries = entriesOf(reply, (name) => STREAMS[keys.indexOf(name)]);
    for (const { stream, id } of entries) ids.set(stream, id);
    return entries;
  }

  const read = (...options: readonly string[]) =>
    ['XREAD', 'COUNT', ENTRIES_AT_ONCE, ...options, 'STREAMS', ...keys, ...ids.values()] as const;

  return {
    lastId: (stream) => ids.get(stream) ?? START,
    next: async () => advance(await redis.command(key, ...read())),
    wait: async (ms) => advance(await redis.block(ms, key, ...read('BLOCK', String(ms)))),
  };
}

/** The entries of a reply of XREAD. An entry without a message has no bytes. */
function entriesOf(reply: RedisReply, streamOf: (key: string) => StreamName | undefined): readonly StreamEntry[] {
  return listOf(reply).flatMap((each) => {
    const [key, entries] = listOf(each);
    const stream = streamOf(String(key));
    if (stream === undefined) return [];
    return listOf(entries).map((entry) => {
      const [id, fields] = listOf(entry);
      const [, bytes] = listOf(fields);
      const text = String(id);
      const message = Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0);
      return { stream, id: text, addedAt: Number(text.split('-')[0]), bytes: message };
    });
  });
}
