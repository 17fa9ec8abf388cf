import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { renderGraphiqlPage } from './graphiql-page.ts';

/** A page in each of the encodings that browsers take. */
type Page = { readonly etag: string; readonly bodies: ReadonlyMap<Encoding, Buffer> };
type Encoding = 'br' | 'gzip' | 'identity';

/** Quality 5 of 11 comes within a few percent of the best at a fraction of its time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/**
 * Creates the handler that answers with GraphiQL. The page of 9 MB is made at the first request, sent compressed, and not
 * sent again to a browser that has it. A foreign page cannot show it in a frame, where it would send operations for that page.
 */
export function createGraphiqlHandler(
  title: string,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let page: Promise<Page> | undefined;

  return async (request, response) => {
    page ??= makePage(title);
    const { etag, bodies } = await page;
    const encoding = acceptedEncoding(request);
    response.setHeader('vary', 'accept, accept-encoding, sec-fetch-mode');
    response.setHeader('cache-control', 'no-cache');
    response.setHeader('etag', etag);
    response.setHeader('content-security-policy', "frame-ancestors 'self'");
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

async function makePage(title: string): Promise<Page> {
  const html = Buffer.from(await renderGraphiqlPage(title));
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
