import { percentDecoded } from '../domain/percent-encoding.ts';
import { createRedactor, MIN_SECRET_LENGTH, type Redact, type Secret } from '../logging/redact.ts';
import type { Setting } from './kinds.ts';
import type { HttpHeaders } from './readers.ts';
import { type Config, SETTINGS } from './settings.ts';

type Settings = typeof SETTINGS;
type SecretKey = { [Key in keyof Settings]: Settings[Key] extends { isSecret: true } ? Key : never }[keyof Settings];

/** The settings that may contain secrets: URLs and headers of other hosts, and the URL of a database. */
export type SecretSettings = Pick<Config, SecretKey>;

const KEYS_OF_HOSTS = Object.entries<Setting>(SETTINGS)
  .filter(([key, { isSecret }]) => isSecret && key !== 'historyDatabase')
  .map(([key]) => key as Exclude<SecretKey, 'historyDatabase'>);

/**
 * Creates the redactor of all secrets in the settings: user names, passwords, paths and query values of URLs, and the values
 * of headers. Each line of the log, and each problem of a setting, goes through it.
 */
export function redactorOf(settings: SecretSettings): Redact {
  const { historyDatabase: database } = settings;
  const ofDatabase = typeof database === 'object' && 'url' in database ? secretsOfDatabase(new URL(database.url)) : [];
  return createRedactor([...KEYS_OF_HOSTS.flatMap((key) => secretsOf(settings[key])), ...ofDatabase]);
}

/** The parameters of the URL of a database that are no secrets. Logs have the same words in other places. */
const PUBLIC_PARAMETERS = ['host', 'port', 'user', 'application_name', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/** The names of the user and of the database are no secrets: logs contain them in other places. */
function secretsOfDatabase({ password, search }: URL): Secret[] {
  const url = new URL(`postgres://database/${search}`);
  for (const name of PUBLIC_PARAMETERS) url.searchParams.delete(name);
  url.password = password;
  return secretsOfUrl(url);
}

function secretsOf(value: URL | readonly (URL | undefined)[] | HttpHeaders | undefined): Secret[] {
  return [value].flat().flatMap((each) => {
    if (each === undefined) return [];
    return each instanceof URL ? secretsOfUrl(each) : secretsOfHeaders(each);
  });
}

function secretsOfUrl({ username, password, pathname, searchParams, hash }: URL): Secret[] {
  return [
    ...secretsOfCredentials(percentDecoded(username), percentDecoded(password)),
    ...pathname.split('/').map(percentDecoded).flatMap(secretsOfSegment),
    ...[...searchParams].map(([name, value]) => ({ text: secretOfPair(name, value) })),
    { text: percentDecoded(hash.slice(1)) },
  ];
}

/** Common names of users. They are not secret, and logs contain these words in other places. */
const COMMON_NAME = /^(?:default|gateway|node|redis|pdex|admin|user|root)$/i;

/** Each alone, and joined as in the `authorization` header, because each alone may be too short to be redacted. */
function secretsOfCredentials(name: string, password: string): Secret[] {
  if (name === '' && password === '') return [];
  const joined = `${name}:${password}`;
  const bytes = Buffer.from(joined);
  const encoded = [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
  return [joined, ...(COMMON_NAME.test(name) ? [] : [name]), password, ...encoded].map((text) => ({ text }));
}

/** A parameter without a value may itself be a key. A value that is too short is redacted together with its name. */
function secretOfPair(name: string, value: string): string {
  if (value === '') return name;
  return value.length < MIN_SECRET_LENGTH ? `${name}=${value}` : value;
}

/** Common words in paths. They are not secret, and logs contain many of them. */
const COMMON_SEGMENT =
  /^(?:v\d{1,2}|api|public|json|json-?rpc|rpc|https?|market-data|pairs|tickers|orderbook|coins|tokenlist)$/i;

/** Maximum length of a path segment that is an ordinary word and not a key. */
const MAX_WORD_LENGTH = 12;

function secretsOfSegment(text: string): Secret[] {
  if (COMMON_SEGMENT.test(text)) return [];
  return [{ text, isWordOfPath: text.length <= MAX_WORD_LENGTH && /^[a-z]+(?:-[a-z]+)*$/i.test(text) }];
}

/** The whole values, and the parts of them that a host may repeat: tokens, cookies, credentials. */
function secretsOfHeaders(headers: HttpHeaders): Secret[] {
  return Object.values(headers).flatMap((value) => {
    const parts = value.split(/[\s;,=]+/).filter((part) => part.length >= 6 || /\d/.test(part));
    const [, token = ''] = /^\S+\s+(\S+)$/.exec(value) ?? [];
    const alone = [value, token, ...parts].filter((text) => !AUTHENTICATION_SCHEME.test(text));
    const [, basic] = /^basic\s+(\S+)$/i.exec(value) ?? [];
    const [name = '', ...password] = basic === undefined ? [] : Buffer.from(basic, 'base64').toString().split(':');
    return [...alone.map((text) => ({ text })), ...secretsOfCredentials(name, password.join(':'))];
  });
}

const AUTHENTICATION_SCHEME = /^(?:basic|bearer|digest|token|api-?key)$/i;
