import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { handlePreflight, isPreflight, refuseOrigin } from '../clients/origins.ts';
import { Account } from '../clients/rate-limits.ts';
import { type HttpExchange, isRead } from '../requests/http-exchange.ts';
import { createNegotiation, type JsonType, readContentType } from '../requests/media-types.ts';
import { bodyTooLarge, compressed } from '../requests/refusal.ts';
import type { TransportOptions } from '../transport-options.ts';
import type { ResponseWriter } from './response-writer.ts';

type GraphqlEndpointOptions = Pick<TransportOptions, 'rates' | 'connections' | 'corsOrigins'> & {
  readonly writer: ResponseWriter;
  readonly maxBodyBytes: number;
  /** Handles plain requests. @param body undefined for a GET */
  readonly plain: (exchange: HttpExchange, account: Account, type: JsonType, body: Buffer | undefined) => void;
  /** Handles all others. */
  readonly other: (exchange: HttpExchange, account: Account) => void;
};

/**
 * Creates the handler of the GraphQL endpoint. It refuses pages of other origins and clients over a limit, and then decides by
 * method, content type, `Accept` and the first character of the body who handles the request to its end.
 *
 * A plain request is a GET or a POST of JSON, but of no array, whose client accepts JSON.
 */
export function createGraphqlEndpoint(options: GraphqlEndpointOptions): (exchange: HttpExchange) => void {
  const { writer, rates, connections, corsOrigins, maxBodyBytes, plain, other } = options;
  const accepted = createNegotiation();

  function refusalOf(request: IncomingMessage, response: ServerResponse, account: Account): GraphQLError | undefined {
    const refused = refuseOrigin(request, corsOrigins) ?? connections?.admit(request, response);
    return request.method === 'OPTIONS' ? refused : (refused ?? account.charge(1));
  }

  function handle(exchange: HttpExchange, account: Account, type: JsonType | undefined): GraphQLError | undefined {
    const { request } = exchange;
    const handleOther = (body: Buffer | undefined) => {
      if (body !== undefined) Object.assign(request, { body: Readable.from([body]) });
      other(exchange, account);
    };
    const before = isRead(request) ? undefined : readBefore(request);
    if (type === undefined || !isPlain(request)) handleOther(before);
    else if (isRead(request)) plain(exchange, account, type, undefined);
    else if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') return compressed();
    else
      readBody(request, before, maxBodyBytes, (body) => {
        if (body === undefined) writer.refuse(exchange, type, bodyTooLarge());
        else if (isArray(body)) handleOther(body);
        else plain(exchange, account, type, body);
      });
    return undefined;
  }

  return (exchange) => {
    const { request, response } = exchange;
    if (isPreflight(request, corsOrigins)) {
      writer.begin(exchange);
      handlePreflight(request, response);
      return;
    }
    const { json } = accepted(request.headers.accept);
    const account = new Account(rates, request, 'http');
    const error = refusalOf(request, response, account) ?? handle(exchange, account, json);
    if (error !== undefined) writer.refuse(exchange, json, error);
  };
}

function isPlain(request: IncomingMessage): boolean {
  return isRead(request) || (request.method === 'POST' && readContentType(request.headers['content-type']) === 'json');
}

const OPENING_BRACE = 0x7b;

/** Whether a body of JSON is an array, as far as its first character says. */
function isArray(body: Buffer): boolean {
  return body[0] !== OPENING_BRACE && /^(?:\xef\xbb\xbf)?\s*\[/.test(body.toString('latin1'));
}

/**
 * The body of a request that other code of the process, such as `express.json()`, has read before; `undefined` if none has. Such
 * code leaves what it has read in `request.body`, decompressed and, if it is no buffer, decoded: the headers are changed to
 * describe the returned body.
 */
function readBefore(request: IncomingMessage & { readonly body?: unknown }): Buffer | undefined {
  if (!request.readableEnded) return undefined;
  const { headers, body = '' } = request;
  const { 'content-type': type } = headers;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  delete headers['content-encoding'];
  headers['content-length'] = String(bytes.length);
  if (bytes !== body && type !== undefined) headers['content-type'] = type.replace(/;\s*charset=[^;]*/i, '');
  return bytes;
}

/**
 * Reads the body of a request. `onBody` is not called if the client disconnects before the end.
 *
 * @param before the body, if other code has read it
 * @param onBody called with `undefined` as soon as there are more than `maxBytes`; the rest is not stored
 */
function readBody(
  request: IncomingMessage,
  before: Buffer | undefined,
  maxBytes: number,
  onBody: (body: Buffer | undefined) => void,
): void {
  const isTooLarge = Number(request.headers['content-length'] ?? 0) > maxBytes;
  if (isTooLarge || before !== undefined) {
    onBody(isTooLarge ? undefined : before);
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    const before = size;
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else if (before <= maxBytes) onBody(undefined);
  });
  request.on('end', () => {
    if (size <= maxBytes) onBody(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
  });
}
