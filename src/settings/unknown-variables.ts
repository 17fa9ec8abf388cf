import { closestMatch } from 'leven';
import type { Setting } from './kinds.ts';
import { SETTINGS } from './settings.ts';

/** Prefixes that only this gateway uses. Other unknown variables belong to other programs. */
const OUR_PREFIX = /^(FULLNODE|MARKET)_/i;

/** Variables that Kubernetes and Docker set for a service whose name is one of our prefixes. */
const SERVICE_LINK = /_(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP)(_\w+)?)?)$/;

/** Minimum length of a setting to suggest: short names, such as `PORT`, are similar to too many others. */
const MIN_LENGTH = 6;

const MAX_EDITS = 2;

/**
 * Finds variables that are probably misspelt settings: they have a prefix of ours, or differ from a setting in case or in
 * one or two characters.
 *
 * @returns a sentence for each, without the value of the variable
 */
export function findUnknownVariables(env: NodeJS.ProcessEnv): string[] {
  const settings = Object.values<Setting>(SETTINGS);
  const known = new Set(settings.map(({ variable }) => variable));
  // `http_proxy` and `FTP_PROXY` are right as they are.
  const ours = settings.filter(({ isOfNode }) => !isOfNode).map(({ variable }) => variable);

  return Object.keys(env).flatMap((name) => {
    if (known.has(name) || SERVICE_LINK.test(name)) return [];
    const meant = nearestOf(name.toUpperCase(), ours);
    if (meant === undefined && !OUR_PREFIX.test(name)) return [];
    return [`${name} is not a setting${meant === undefined ? '' : `: did you mean ${meant}?`}`];
  });
}

/** The name that was probably meant, within two typing errors; `undefined` if there is none. */
export function nearestOf(name: string, ours: readonly string[]): string | undefined {
  const candidates = ours.filter(({ length }) => length >= MIN_LENGTH);
  return RENAMED.get(name) ?? closestMatch(name, candidates, { maxDistance: MAX_EDITS });
}

/** The names of settings that had another name before, by that: as variable, flag and option. */
export const RENAMED: ReadonlyMap<string, string> = new Map([
  ['ANSWER_CACHE_BYTES', 'RESPONSE_CACHE_BYTES'],
  ['--answer-cache-bytes', '--response-cache-bytes'],
  ['answerCacheBytes', 'responseCacheBytes'],
]);

/** Finds variables with the names of before, which would have no effect. @returns a sentence for each, with its new name */
export function findRenamedVariables(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env).flatMap((name) => {
    const now = env[name] && RENAMED.get(name);
    return now ? [`${name} is not a setting any more: it is now ${now}`] : [];
  });
}
