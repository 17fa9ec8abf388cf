import type { Redis } from './redis.ts';

/** A lock that its replica has not renewed for this time is free: the replica was stopped. */
export const LOCK_MS = 1_500;
const RENEW_EVERY_MS = 400;

/** Keeps a lock. Key: the lock. Arguments: its token, and after how many ms it is free. */
const RENEW = `
if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
`;

/** Frees a lock. Key: the lock. Argument: its token. */
const RELEASE = `
if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('UNLINK', KEYS[1]) end
return 0
`;

type Lock = { readonly key: string; readonly token: string };

/** Renews a lock while work is under way. If the work fails, the lock is freed. */
export async function holding<T>(redis: Pick<Redis, 'run'>, { key, token }: Lock, work: () => Promise<T>): Promise<T> {
  const renewal = setInterval(() => redis.run(RENEW, [key], [token, String(LOCK_MS)]).catch(() => {}), RENEW_EVERY_MS);
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
  await redis.run(RELEASE, [key], [token]);
}
