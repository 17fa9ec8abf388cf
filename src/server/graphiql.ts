import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { GRAPHIQL_TABS } from './graphiql-tabs.ts';

/** A page in each of the encodings that browsers take. */
type Page = { readonly etag: string; readonly bodies: ReadonlyMap<Encoding, Buffer> };
type Encoding = 'br' | 'gzip' | 'identity';

/** Quality 5 of 11 comes within a few percent of the best at a fraction of its time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Whether a request is a person's who opened the endpoint in a browser. */
export function isForGraphiql({ method, headers, url = '' }: IncomingMessage): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && (headers.accept ?? '').includes('text/html') && !/[?&]query=/.test(url);
}

/**
 * Makes the door to GraphiQL. The package carries all of it in one page of 9 MB, so that it works without internet: it is
 * made when the first browser asks, sent compressed, and not sent again where the browser has it.
 */
export function createGraphiqlDoor(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let page: Promise<Page> | undefined;

  return async (request, response) => {
    page ??= makePage();
    const { etag, bodies } = await page;
    const encoding = acceptedEncoding(request);
    response.setHeader('vary', 'accept, accept-encoding');
    response.setHeader('cache-control', 'no-cache');
    response.setHeader('etag', etag);
    if (hasIt(request, etag)) {
      response.writeHead(304).end();
      return;
    }
    const body = bodies.get(encoding) ?? Buffer.alloc(0);
    if (encoding !== 'identity') response.setHeader('content-encoding', encoding);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
}

async function makePage(): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = Buffer.from(
    renderGraphiQL({
      title: 'pdex-gateway',
      subscriptionsProtocol: 'WS',
      defaultTabs: GRAPHIQL_TABS.map((query) => ({ query })),
      schemaDescription: true,
    }),
  );
  const [br, gz] = await Promise.all([promisify(brotliCompress)(html, BROTLI), promisify(gzip)(html)]);
  return {
    etag: `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`,
    bodies: new Map([
      ['br', br],
      ['gzip', gz],
      ['identity', html],
    ]),
  };
}

function acceptedEncoding(request: IncomingMessage): Encoding {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  if (/\bbr\b/.test(accepted)) return 'br';
  return /\bgzip\b/.test(accepted) ? 'gzip' : 'identity';
}

/** A cache in between may send several tags, or mark one as weak. */
function hasIt({ headers }: IncomingMessage, etag: string): boolean {
  const tags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
