/** The two media types that a JSON answer can have. */
export type JsonType = 'application/json' | 'application/graphql-response+json';

/** Where a client accepts both alike, the first. */
const JSON_TYPES: readonly JsonType[] = ['application/json', 'application/graphql-response+json'];

/** How many texts of the header are remembered: honest clients send a handful. */
const MAX_TEXTS_KNOWN = 200;

/**
 * Makes what reads `Accept` as Yoga does: the media type of a JSON answer, or `undefined` where the client accepts none.
 *
 * Yoga reads the header when the answer is there; what stands in front of it has to know before.
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

/** The first that is listed wins, without regard to weights. */
function negotiate(accept: string): JsonType | undefined {
  for (const item of (accept || '*/*').replace(/\s/g, '').toLowerCase().split(',')) {
    const [range = '', ...parameters] = item.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset=')) ?? 'charset=utf-8';
    const type = charset === 'charset=utf-8' ? JSON_TYPES.find((each) => isIn(range, each)) : undefined;
    if (type !== undefined) return type;
  }
  return undefined;
}

function isIn(range: string, type: JsonType): boolean {
  const [kind, detail] = range.split('/');
  const [itsKind, itsDetail] = type.split('/');
  return (kind === '*' || kind === itsKind) && (detail === '*' || detail === itsDetail);
}
