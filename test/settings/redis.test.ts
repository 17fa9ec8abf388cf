import { describe, expect, test } from 'vitest';
import { kindOf } from '../../src/fleet/redis-client.ts';
import { ConfigError } from '../../src/settings/kinds.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { redactorOf } from '../../src/settings/secrets.ts';
import type { Config } from '../../src/settings/settings.ts';

const read = (text: string) => (readConfig([], { REDIS_URL: text }) as Config).redisUrl;

describe('REDIS_URL', () => {
  test.each([
    ['redis://host', 'server'],
    ['rediss://me:sw%2Ford@host:6380/2', 'server'],
    ['redis://a:7000,redis://b:7001, redis://c:7002', 'cluster'],
    ['rediss+cluster://host:6379', 'cluster'],
    ['redis+sentinel://a:26379/mymaster,redis+sentinel://b:26379/mymaster', 'sentinel'],
    ['redis+sentinel://:swordfish@a/mymaster/1?sentinel-auth', 'sentinel'],
    ['redis+sentinel://a/mymaster?sentinel-auth=true', 'sentinel'],
    ['redis://a/0,redis://b/', 'cluster'],
  ])('%s is a %s', (text, kind) => {
    expect(kindOf(read(text))).toBe(kind);
  });

  test.each<readonly [string, string | RegExp]>([
    ['http://swordfish', 'expected a URL with redis or rediss, or one with +cluster or +sentinel appended to that'],
    ['swordfish', 'expected a URL with redis or rediss, or one with +cluster or +sentinel appended to that'],
    ['redis:///1', 'expected a URL with redis or rediss, or one with +cluster or +sentinel appended to that'],
    ['redis://a,http://swordfish', /^.*URL 2 of 2: expected a URL with redis or rediss/],
    ['redis://a,rediss://swordfish', /URL 2 of 2: expected the same scheme as that of the first URL/],
    ['redis://a/swordfish', 'expected no path, or the number of a database'],
    ['redis+sentinel://swordfish', /expected the name of the primary as the path/],
    ...['redis://a/1,redis://swordfish', 'redis+cluster://swordfish/1'].map(
      (url) => [url, 'expected no number of a database: a cluster has one database'] as const,
    ),
    ...['redis://a?db=1', 'redis://a/?password=swordfish', 'redis://a#swordfish'].map(
      (url) => [url, /: expected no parameters$/] as const,
    ),
    ...['db=1', 'sentinel-auth=false', 'sentinel-auth&password=swordfish', 'Sentinel-Auth'].map(
      (parameters) =>
        [
          `redis+sentinel://a/mymaster?${parameters}`,
          'expected no parameters but sentinel-auth, without a value',
        ] as const,
    ),
    ['redis://:swordfish%@a', 'expected % only before two hexadecimal digits'],
  ])('%s is refused without its text', (text, problem) => {
    const [message] = problemsOf({ REDIS_URL: text });
    expect(message).toMatch(problem);
    expect(message).not.toContain('swordfish');
  });

  test('has a user and a password that are never printed', () => {
    const redact = redactorOf(readConfig([], { REDIS_URL: 'redis://a,redis://someone:sw%2Fordfish@b' }) as Config);
    expect(redact('AUTH someone sw/ordfish, sw%2Fordfish')).not.toMatch(/someone|ordfish/);
  });

  test('has a common user whose name is printed, but not with the password', () => {
    const redact = redactorOf(readConfig([], { REDIS_URL: 'redis://gateway:sw0rdfish@a' }) as Config);
    const text = 'the gateway works alone';
    expect(redact(`${text}: gateway:sw0rdfish, gateway, sw0rdfish`)).toBe(`${text}: [redacted], gateway, [redacted]`);
  });

  test('has a prefix of letters, digits and a few signs', () => {
    expect((readConfig([], { REDIS_PREFIX: 'my:pdex-2' }) as Config).redisPrefix).toBe('my:pdex-2');
    expect(problemsOf({ REDIS_PREFIX: '{a}' })).toEqual([
      'REDIS_PREFIX is "{a}": expected 1 to 64 letters, digits and - . _ :',
    ]);
  });
});

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig([], env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
