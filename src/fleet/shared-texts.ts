import { createBoundedKeys } from './bounded-keys.ts';
import type { Redis } from './redis.ts';
import type { SharedReadsWatcher } from './shared-reads.ts';

/** The texts that clients have registered at any replica of a fleet, by their hashes. */
export type SharedTexts = {
  /** Finds a text of that SHA-256. It never fails, and waits half a second at most. */
  find(hash: string): Promise<string | undefined>;
  /** Shares a text with the other replicas. Nothing waits for it. */
  store(hash: string, text: string): void;
};

const KIND = 'persisted_query';

/** A text is registered again by its clients when it is gone. */
const TTL_MS = 24 * 3_600_000;

/** The maximum number of texts in Redis. */
const MAX_TEXTS = 2_000;

/** Longer values are not those of a replica, which shares texts of 20,000 characters at most. */
const MAX_BYTES = 60_000;

/** Searches at the same time. Clients that name more unknown hashes are answered at once that they are unknown. */
const MAX_SEARCHES = 100;

/** Creates the texts of persisted queries that the replicas of a fleet share in Redis. Their reader compares the hashes. */
export function createSharedTexts(redis: Redis, watcher: SharedReadsWatcher): SharedTexts {
  const keys = createBoundedKeys(redis, KIND, TTL_MS);
  const searches = new Map<string, Promise<string | undefined>>();

  async function search(hash: string): Promise<string | undefined> {
    const key = keys.key(hash);
    try {
      const reply = await redis.command(key, 'GET', key);
      if (!Buffer.isBuffer(reply) || reply.length > MAX_BYTES) {
        watcher.ended(KIND, 'read');
        return undefined;
      }
      watcher.moved(KIND, 'in', reply.length);
      watcher.ended(KIND, 'hit');
      return reply.toString();
    } catch {
      watcher.ended(KIND, 'alone');
      return undefined;
    }
  }

  async function write(hash: string, text: string): Promise<void> {
    const key = keys.key(hash);
    watcher.moved(KIND, 'out', Buffer.byteLength(text));
    await redis.command(key, 'SET', key, text, 'PX', String(TTL_MS));
    await keys.added(hash, MAX_TEXTS);
  }

  return {
    async find(hash) {
      const known = searches.get(hash);
      if (known !== undefined) return known;
      if (searches.size >= MAX_SEARCHES) return undefined;
      const searching = search(hash).finally(() => searches.delete(hash));
      searches.set(hash, searching);
      return searching;
    },
    store(hash, text) {
      // Without Redis, only this replica knows the text.
      write(hash, text).catch(() => {});
    },
  };
}
