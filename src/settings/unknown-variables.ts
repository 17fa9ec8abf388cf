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

/** Minimum length of a beginning: one word, such as `HISTORY`, can belong to another program. */
const MIN_BEGINNING = 10;

/** Values of `NODE_ENV` that probably mean `production`, but do not have its effect. */
const ALMOST_PRODUCTION = /^\s*prod/i;

/**
 * Finds variables that are probably misspelt settings: they have a prefix of ours, are the beginning of a setting, or differ from one
 * in case or in a few characters. `NODE_ENV` is no setting, but its value can be misspelt.
 *
 * @returns a sentence for each, without any value that may be a secret
 */
export function findUnknownVariables(env: NodeJS.ProcessEnv): string[] {
  const settings = Object.values<Setting>(SETTINGS);
  const known = new Set(settings.map(({ variable }) => variable));
  // `http_proxy` and `FTP_PROXY` are right as they are.
  const ours = settings.filter(({ isOfNode }) => !isOfNode).map(({ variable }) => variable);

  const mode = env['NODE_ENV'] ?? '';
  const isMisspelt = ALMOST_PRODUCTION.test(mode) && mode !== 'production';
  const misspelt = isMisspelt ? [`NODE_ENV is ${JSON.stringify(mode)}: did you mean production?`] : [];

  const unknown = Object.keys(env).flatMap((name) => {
    if (known.has(name) || SERVICE_LINK.test(name)) return [];
    // OpenTelemetry has variables for traces alone, which the gateway does not read.
    const meant = nearestOf(name.toUpperCase().replace('_OTLP_TRACES_', '_OTLP_'), ours);
    if (meant === undefined && !OUR_PREFIX.test(name)) return [];
    return [`${name} is not a setting${meant === undefined ? '' : `: did you mean ${meant}?`}`];
  });
  return [...misspelt, ...unknown];
}

/**
 * The name that was probably meant: within a few typing errors, or one that begins with all but the last character, as `HISTORY_DATABASE`
 * for `HISTORY_DB`; `undefined` if there is none.
 */
export function nearestOf(name: string, ours: readonly string[]): string | undefined {
  const candidates = ours.filter(({ length }) => length >= MIN_LENGTH);
  const isBeginning = (candidate: string) => name.length >= MIN_BEGINNING && candidate.startsWith(name.slice(0, -1));
  return (
    RENAMED.get(name) ?? closestMatch(name, candidates, { maxDistance: MAX_EDITS }) ?? candidates.find(isBeginning)
  );
}

/** The names of settings that had another name before, by that: as variable, flag and option. */
const RENAMED: ReadonlyMap<string, string> = new Map([
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
