import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { AnyFault, Encoding } from '../faults.ts';
import { parseExactly, printExactly, replaceAt } from './exact-json.ts';
import { type EchoedRequest, echo, httpsExpected, redirect } from './replacements.ts';
import type { Answer, Wire } from './wire.ts';

const page = `<!DOCTYPE html>
<html lang="en"><head><title>Just a moment...</title></head>
<body><h1>Checking your browser before you proceed</h1></body></html>
`;
const garbage = '}{ "Id": 1, Result: undefined,, NaN \u0000';

/** The answer that a fault puts in the place of the right one; the right one for faults of the way it is sent. */
export function spoil(answer: Answer, fault: AnyFault | undefined, request: EchoedRequest): Answer {
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
        body: [Buffer.from(page)],
      };
    case 'redirect':
      return redirect(fault.status ?? 301, fault.to);
    case 'https-expected':
      return httpsExpected();
    case 'echo':
      return echo(request, fault.status ?? 404, fault.as ?? 'json');
    case 'garbage':
      return { ...answer, status: 200, body: [Buffer.from(garbage)] };
    case 'empty':
      return { ...answer, status: 200, body: [] };
    case 'shape': {
      const document = parseExactly(Buffer.concat(answer.body).toString());
      return { ...answer, body: [Buffer.from(printExactly(replaceAt(document, fault.path, fault.value)))] };
    }
    default:
      return answer;
  }
}

const compressors: Record<Encoding, (bytes: Buffer) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};

/** The answer with its body compressed as the faults have it. */
export function compress(answer: Answer, faults: readonly AnyFault[], acceptEncoding: string): Answer {
  const fault = faults.find((each) => each.kind === 'compressed');
  if (fault === undefined) return answer;
  const { encoding = 'gzip', ifAsked = false } = fault;
  if (ifAsked && !acceptEncoding.includes(encoding)) return answer;

  const body = compressors[encoding](Buffer.concat(answer.body));
  return { ...answer, headers: [...answer.headers, ['Content-Encoding', encoding]], body: [body] };
}

/** Sends an answer whole, or in the way a fault has it. */
export async function deliver(wire: Wire, answer: Answer, fault: AnyFault | undefined): Promise<void> {
  const { status, headers, body } = answer;
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const half = () => Buffer.concat(body).subarray(0, Math.floor(length / 2));

  switch (fault?.kind) {
    case 'hang':
      return;
    case 'reset':
      return wire.reset();
    case 'truncated':
      wire.head(status, headers, length);
      await wire.write(half());
      return wire.hangUp();
    case 'reset-in-body':
      wire.head(status, headers, length);
      await wire.write(half());
      // A reset overtakes what the client has not read yet; this lets it read.
      await pause(20);
      return wire.reset();
    case 'drip':
      wire.head(status, headers, length);
      for (const byte of Buffer.concat(body)) {
        if (!(await wire.write(Buffer.of(byte)))) return;
        await (fault.everyMs === 0 ? nextTurn() : pause(fault.everyMs ?? 5));
      }
      return wire.end();
    case 'endless':
      wire.head(status, headers, undefined);
      for (const piece of body) await wire.write(piece);
      while (await wire.write(Buffer.alloc(65_536, ' '))) await pause(1);
      return;
    default:
      wire.head(status, headers, length);
      for (const piece of body) wire.write(piece);
      return wire.end();
  }
}
