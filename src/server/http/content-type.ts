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
