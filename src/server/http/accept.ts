/** The two media types that a JSON answer can have. */
export type JsonType = 'application/json' | 'application/graphql-response+json';

/** Where a client accepts both alike, the first. */
const JSON_TYPES: readonly JsonType[] = ['application/json', 'application/graphql-response+json'];

/** How many texts of the header are remembered: honest clients send a handful. */
const MAX_TEXTS_KNOWN = 200;

/**
 * Makes what reads `Accept`: the media type of a JSON answer, or `undefined` where the client accepts none.
 */
export function createAcceptedTypes(): (accept: string | undefined) => JsonType | undefined {
  const known = new Map<string, JsonType | undefined>();

  return (accept) => {
    if (accept === undefined || accept === 'application/json') return 'application/json';
    if (known.has(accept)) return known.get(accept);

    const type = negotiate(accept);
    if (known.size >= MAX_TEXTS_KNOWN) known.clear();
    known.set(accept, type);
    return type;
  };
}

/** The range with the highest weight wins; of several, the first that is listed. */
function negotiate(accept: string): JsonType | undefined {
  const ranges = rangesOf(accept);
  // A type that is refused by its name is not accepted by a wider range.
  const refused = ranges.filter(({ weight }) => weight === 0).map(({ range }) => range);
  for (const { range } of wanted(ranges).sort((a, b) => b.weight - a.weight)) {
    const type = JSON_TYPES.find((each) => isIn(range, each) && !refused.includes(each));
    if (type !== undefined) return type;
  }
  return undefined;
}

/** Whether a client accepts a media type. */
export function accepts(accept: string | undefined, type: string): boolean {
  return wanted(rangesOf(accept ?? '')).some(({ range }) => isIn(range, type));
}

type Range = { readonly range: string; readonly weight: number };

function wanted(ranges: readonly Range[]): Range[] {
  return ranges.filter(({ weight }) => weight > 0);
}

/** The media ranges of the header, as far as they leave UTF-8, the only charset that there is. */
function rangesOf(accept: string): Range[] {
  const items = (accept || '*/*').replace(/\s/g, '').toLowerCase().split(',');
  return items.flatMap((item) => {
    const [range = '', ...parameters] = item.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset=')) ?? 'charset=utf-8';
    return charset === 'charset=utf-8' ? [{ range, weight: weightIn(parameters) }] : [];
  });
}

/** The weight of a range, from 0 to 1; 1 where it is left out or no number. */
function weightIn(parameters: readonly string[]): number {
  const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
  return Number.isNaN(weight) ? 1 : weight;
}

function isIn(range: string, type: string): boolean {
  const [kind, detail] = range.split('/');
  const [itsKind, itsDetail] = type.split('/');
  return (kind === '*' || kind === itsKind) && (detail === '*' || detail === itsDetail);
}
