import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Instant } from '../../domain/instant.ts';
import type { Dependencies } from '../../loaders/dependencies.ts';
import type { JsonType } from './accept.ts';
import type { EncodedResponse } from './encoded-response.ts';

/** What caches between the gateway and its clients are told of answers to GET. */
export type HttpCaching = {
  /** How long an answer may be given again without asking, and its tag, by which it can be asked for after that. */
  of(answer: EncodedResponse, type: JsonType): { readonly etag: string | undefined; readonly cacheControl: string };
};

const NEVER = { etag: undefined, cacheControl: 'no-store' };
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Makes what tells caches. */
export function createHttpCaching(now: () => Instant): HttpCaching {
  const tags: Readonly<Record<JsonType, WeakMap<EncodedResponse, string>>> = {
    'application/json': new WeakMap(),
    'application/graphql-response+json': new WeakMap(),
  };

  /** One tag for each media type: two representations that differ in it are not the same. */
  function tagOf(answer: EncodedResponse, type: JsonType): string {
    const known = tags[type].get(answer);
    if (known !== undefined) return known;
    const bytes = typeof answer.body === 'string' ? Buffer.from(answer.body, 'latin1') : answer.body;
    const tag = `"${createHash('sha256').update(type).update(bytes).digest('base64url').slice(0, 22)}"`;
    tags[type].set(answer, tag);
    return tag;
  }

  return {
    of(answer, type) {
      const { dependencies } = answer;
      if (dependencies === undefined || !dependencies.areCurrent(now())) return NEVER;
      return { etag: tagOf(answer, type), cacheControl: cacheControlOf(dependencies, now()) };
    },
  };
}

function cacheControlOf(dependencies: Dependencies, now: Instant): string {
  if (dependencies.areOfFinalHeights()) return FOR_EVER;
  const seconds = Math.floor((dependencies.expectedUntil() - now) / 1_000);
  // A cache may keep it, and ask whether it is still so each time.
  return seconds >= 1 && seconds !== Number.POSITIVE_INFINITY ? `max-age=${seconds}` : 'no-cache';
}

/** Whether whoever asks has the answer with that tag already. */
export function hasTag({ headers: { 'if-none-match': known } }: IncomingMessage, etag: string): boolean {
  return known !== undefined && (known === etag || isListed(known, etag));
}

/** Caches may list several tags, and mark as weak what they have changed in no way that matters. */
function isListed(known: string, etag: string): boolean {
  return known.split(',').some((each) => {
    const tag = each.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}
