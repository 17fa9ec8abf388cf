import type { Redis } from './redis.ts';

/** A lock that its replica has not renewed for this time is free: the replica was stopped. */
export const LOCK_MS = 1_500;
const RENEW_EVERY_MS = 400;

/** A key of Redis, and what it contains while this replica has the lock. */
type Lock = { readonly key: string; readonly token: string };

/** Keeps a lock, unless another replica has it. Key: the lock. Arguments: its token, and after how many ms it is free; 0 frees it. */
const KEEP = `
if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`;

/** Renews a lock while work is in progress. If the work fails, the lock is freed. */
export async function holding<T>(redis: Pick<Redis, 'run'>, { key, token }: Lock, work: () => Promise<T>): Promise<T> {
  const renewal = setInterval(() => redis.run(KEEP, [key], [token, String(LOCK_MS)]).catch(() => {}), RENEW_EVERY_MS);
  try {
    return await work();
  } catch (error) {
    // Others should not wait until it expires, but the error of the work counts.
    release(redis, { key, token }).catch(() => {});
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

/** Frees a lock, unless another replica has it. @throws as `Redis.command` */
export async function release(redis: Pick<Redis, 'run'>, { key, token }: Lock): Promise<void> {
  await redis.run(KEEP, [key], [token, '0']);
}
