import { percentDecoded } from '../domain/percent-encoding.ts';

/** The user and password of a URL for basic authentication, as the value of a header; `undefined` if it has none. */
export function credentialsOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const credentials = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/** The header `authorization` with the user and password of a URL, if it has them. */
export function authorization(url: URL): Record<string, string> {
  const credentials = credentialsOf(url);
  return credentials === undefined ? {} : { authorization: credentials };
}

/** The headers of every request to an upstream, unless others are set. Some traffic filters refuse requests without a `user-agent`. */
export function ownHeaders(url: URL): Record<string, string> {
  return { 'user-agent': 'pdex-gateway', ...authorization(url) };
}
