import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { AnyFault, Encoding } from '../faults.ts';
import { type EchoedRequest, echo, httpsExpected, redirect } from './error-pages.ts';
import { parseExactly, printExactly, replaceAt } from './exact-json.ts';
import type { HostResponse, ResponseWriter } from './response-writer.ts';

const FILTER_PAGE = `<!DOCTYPE html>
<html lang="en"><head><title>Just a moment...</title></head>
<body><h1>Checking your browser before you proceed</h1></body></html>
`;
const GARBAGE = '}{ "Id": 1, Result: undefined,, NaN \u0000';

/** The response after a fault that replaces it. Faults of the transmission leave it as it is. */
export function applyFault(response: HostResponse, fault: AnyFault | undefined, request: EchoedRequest): HostResponse {
  switch (fault?.kind) {
    case 'status': {
      const { status, body = '', retryAfter } = fault;
      const retry = retryAfter === undefined ? [] : [['Retry-After', String(retryAfter)] as const];
      return { status, headers: [['Content-Type', 'text/plain; charset=utf-8'], ...retry], body: [Buffer.from(body)] };
    }
    case 'html':
      return {
        status: fault.status ?? 200,
        headers: [['Content-Type', 'text/html; charset=UTF-8']],
        body: [Buffer.from(FILTER_PAGE)],
      };
    case 'redirect':
      return redirect(fault.status ?? 301, fault.to);
    case 'https-expected':
      return httpsExpected();
    case 'echo':
      return echo(request, fault.status ?? 404, fault.as ?? 'json');
    case 'garbage':
      return { ...response, status: 200, body: [Buffer.from(GARBAGE)] };
    case 'empty':
      return { ...response, status: 200, body: [] };
    case 'shape': {
      const document = parseExactly(Buffer.concat(response.body).toString());
      return { ...response, body: [Buffer.from(printExactly(replaceAt(document, fault.path, fault.value)))] };
    }
    default:
      return response;
  }
}

const COMPRESSORS: Record<Encoding, (bytes: Buffer) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};

/** The response, compressed if a fault says so. */
export function compress(response: HostResponse, faults: readonly AnyFault[], acceptEncoding: string): HostResponse {
  const fault = faults.find((each) => each.kind === 'compressed');
  if (fault === undefined) return response;
  const { encoding = 'gzip', ifAsked = false } = fault;
  if (ifAsked && !acceptEncoding.includes(encoding)) return response;

  const body = COMPRESSORS[encoding](Buffer.concat(response.body));
  return { ...response, headers: [...response.headers, ['Content-Encoding', encoding]], body: [body] };
}

/** Sends a response, in the way of a fault of the transmission if there is one. */
export async function sendResponse(writer: ResponseWriter, response: HostResponse, fault?: AnyFault): Promise<void> {
  const { status, headers, body } = response;
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const half = () => Buffer.concat(body).subarray(0, Math.floor(length / 2));

  switch (fault?.kind) {
    case 'hang':
      return;
    case 'reset':
      return writer.reset();
    case 'truncated':
      writer.head(status, headers, length);
      await writer.write(half());
      return writer.close();
    case 'reset-in-body':
      writer.head(status, headers, length);
      await writer.write(half());
      // A reset discards what the client has not read yet: this gives it time to read.
      await pause(20);
      return writer.reset();
    case 'drip':
      writer.head(status, headers, length);
      for (const byte of Buffer.concat(body)) {
        if (!(await writer.write(Buffer.of(byte)))) return;
        await (fault.everyMs === 0 ? nextTurn() : pause(fault.everyMs ?? 5));
      }
      return writer.end();
    case 'endless':
      writer.head(status, headers, undefined);
      for (const piece of body) await writer.write(piece);
      for (const piece = Buffer.alloc(2 ** 19, ' '); await writer.write(piece); ) await nextTurn();
      return;
    default:
      writer.head(status, headers, length);
      for (const piece of body) writer.write(piece);
      return writer.end();
  }
}
