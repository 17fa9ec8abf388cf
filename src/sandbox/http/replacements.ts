import { STATUS_CODES } from 'node:http';
import type { Answer, Headers } from './wire.ts';

/** What a host may repeat of a request. */
export type EchoedRequest = {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
};

const html: Headers = [['Content-Type', 'text/html']];

/** A redirect with the page that nginx sends with it. */
export function redirect(status: number, to: string): Answer {
  return { status, headers: [...html, ['Location', to]], body: [nginxPage(`${status} ${STATUS_CODES[status]}`)] };
}

/** The answer of nginx to a plain HTTP request at a port of HTTPS. */
export function httpsExpected(): Answer {
  const body = nginxPage('400 The plain HTTP request was sent to HTTPS port');
  return { status: 400, headers: html, body: [body] };
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

/** Headers that say nothing of who sent a request. */
const plainHeaders = ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host'];

/** An answer that repeats what it was sent, as some hosts do when they refuse: the URL, the headers, the credentials decoded. */
export function echo({ method, path, headers }: EchoedRequest, status: number, as: 'json' | 'text'): Answer {
  const sent = Object.entries(headers).filter(([name]) => !plainHeaders.includes(name));
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
