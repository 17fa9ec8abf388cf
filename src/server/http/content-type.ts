/** What a body that is posted holds: a JSON document with the operation, or the text of the operation alone. */
export type BodyKind = 'json' | 'graphql';

const KINDS: Readonly<Record<string, BodyKind>> = {
  'application/json': 'json',
  'application/graphql+json': 'json',
  'application/graphql': 'graphql',
};

/** @returns `undefined` for a media type or a charset that is not read */
export function readContentType(contentType: string | undefined): BodyKind | undefined {
  if (contentType === 'application/json' || contentType === 'application/json; charset=utf-8') return 'json';
  // A list is no content type, but some clients send one.
  const [type = '', ...parameters] = (contentType ?? '').split(',', 1).join().toLowerCase().split(';');
  return parameters.every(isReadable) ? KINDS[type.trim()] : undefined;
}

/** Parameters other than the charset mean nothing for these types. */
function isReadable(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2);
  return name.trim() !== 'charset' || /^"?utf-?8"?$/.test(value.trim());
}
