import { STATUS_CODES } from 'node:http';
import type { Headers, HostResponse } from './response-writer.ts';

/** The parts of a request that a host may repeat. */
export type EchoedRequest = {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
};

const HTML: Headers = [['Content-Type', 'text/html']];

/** A redirect with the page of nginx. */
export function redirect(status: number, to: string): HostResponse {
  return { status, headers: [...HTML, ['Location', to]], body: [nginxPage(`${status} ${STATUS_CODES[status]}`)] };
}

/** The response of nginx to a plain HTTP request at an HTTPS port. */
export function httpsExpected(): HostResponse {
  const body = nginxPage('400 The plain HTTP request was sent to HTTPS port');
  return { status: 400, headers: HTML, body: [body] };
}

function nginxPage(title: string): Buffer {
  const lines = [
    '<html>',
    `<head><title>${title}</title></head>`,
    '<body>',
    `<center><h1>${title}</h1></center>`,
    '<hr><center>nginx/1.26.2</center>',
    '</body>',
    '</html>',
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}

/** Headers that every client sends. */
const STANDARD_HEADERS = ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host'];

/** A response that repeats the URL, the headers and the decoded credentials of the request, as some hosts do in errors. */
export function echo({ method, path, headers }: EchoedRequest, status: number, as: 'json' | 'text'): HostResponse {
  const sent = Object.entries(headers).filter(([name]) => !STANDARD_HEADERS.includes(name));
  const { authorization = '' } = headers;
  const [, base64 = ''] = /^Basic (.*)$/.exec(String(authorization)) ?? [];
  const credentials = Buffer.from(base64, 'base64').toString();

  const body =
    as === 'json'
      ? JSON.stringify({ no: credentials, headers: Object.fromEntries(sent), url: path, decoded: decoded(path) })
      : [`${credentials} ${method} ${path} ${decoded(path)}`, ...sent.map(([name, value]) => `${name}: ${value}`)].join(
          ' ',
        );
  const type = as === 'json' ? 'application/json' : 'text/plain; charset=utf-8';
  return { status, headers: [['Content-Type', type]], body: [Buffer.from(body)] };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
