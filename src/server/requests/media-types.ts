/** The two media types of a JSON response. */
export type JsonType = 'application/json' | 'application/graphql-response+json';

/** If a client accepts both equally, the first is used. */
const JSON_TYPES: readonly JsonType[] = ['application/json', 'application/graphql-response+json'];

/** Maximum number of header values in the cache. Usual clients send a handful. */
const MAX_CACHED = 200;

/** Creates the function that reads `Accept`: the media type of a JSON response, or `undefined` if the client accepts none. */
export function createAcceptedTypes(): (accept: string | undefined) => JsonType | undefined {
  const cache = new Map<string, JsonType | undefined>();

  return (accept) => {
    if (accept === undefined || accept === 'application/json') return 'application/json';
    if (cache.has(accept)) return cache.get(accept);

    const type = negotiate(accept);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(accept, type);
    return type;
  };
}

/** The range with the highest weight decides. Of several, it is the first in the header. */
function negotiate(accept: string): JsonType | undefined {
  const ranges = rangesOf(accept);
  // A weight of 0 excludes a type from wider ranges too.
  const excluded = ranges.filter(({ weight }) => weight === 0).map(({ range }) => range);
  for (const { range } of accepted(ranges).sort((a, b) => b.weight - a.weight)) {
    const type = JSON_TYPES.find((each) => isIn(range, each) && !excluded.includes(each));
    if (type !== undefined) return type;
  }
  return undefined;
}

/** Whether a client accepts a media type. */
export function accepts(accept: string | undefined, type: string): boolean {
  return accepted(rangesOf(accept ?? '')).some(({ range }) => isIn(range, type));
}

type Range = { readonly range: string; readonly weight: number };

function accepted(ranges: readonly Range[]): Range[] {
  return ranges.filter(({ weight }) => weight > 0);
}

/** The media ranges of the header, without those of another charset than UTF-8. */
function rangesOf(accept: string): Range[] {
  const items = (accept || '*/*').replace(/\s/g, '').toLowerCase().split(',');
  return items.flatMap((item) => {
    const [range = '', ...parameters] = item.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset=')) ?? 'charset=utf-8';
    return charset === 'charset=utf-8' ? [{ range, weight: weightIn(parameters) }] : [];
  });
}

/** The weight of a range, from 0 to 1; 1 if it is missing or not a number. */
function weightIn(parameters: readonly string[]): number {
  const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
  return Number.isNaN(weight) ? 1 : weight;
}

function isIn(range: string, type: string): boolean {
  const [rangeType, rangeSubtype] = range.split('/');
  const [mainType, subtype] = type.split('/');
  return (rangeType === '*' || rangeType === mainType) && (rangeSubtype === '*' || rangeSubtype === subtype);
}

/** The format of a request body: JSON with the operation, or only the text of the operation. */
type BodyKind = 'json' | 'graphql';

const KINDS: Readonly<Record<string, BodyKind>> = {
  'application/json': 'json',
  'application/graphql+json': 'json',
  'application/graphql': 'graphql',
};

/** Reads a `Content-Type` header. @returns `undefined` for a media type or a charset that is not supported */
export function readContentType(contentType: string | undefined): BodyKind | undefined {
  if (contentType === 'application/json' || contentType === 'application/json; charset=utf-8') return 'json';
  // A list is not a valid content type, but some clients send one.
  const [type = '', ...parameters] = (contentType ?? '').split(',', 1).join().toLowerCase().split(';');
  return parameters.every(isUtf8Parameter) ? KINDS[type.trim()] : undefined;
}

/** Whether a parameter is not another charset than UTF-8. These types have no other parameters with a meaning. */
function isUtf8Parameter(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim() !== 'charset' || /^"?utf-?8"?$/.test(value.trim());
}
