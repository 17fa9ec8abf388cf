import { Pool } from 'undici';
import { addressHeader } from './client-address.ts';
import type { SoakContext } from './context.ts';
import type { GraphqlResponse, Operation } from './judge.ts';

/** An HTTP client with one persistent connection. */
export type HttpClient = {
  /** Sends an operation and judges the response. @returns the response; `undefined` if there was none */
  execute(operation: Operation): Promise<GraphqlResponse | undefined>;
  /** Sends any request. */
  send(method: 'GET' | 'POST', headers: Record<string, string>, search: string, body?: string): Promise<HttpResponse>;
  close(): Promise<void>;
};

type HttpResponse = { readonly status: number; readonly text: string };

/** Creates a client of this name. It sends every other operation with GET if the URL is short enough. */
export function createHttpClient(context: SoakContext, name: string): HttpClient {
  const { url, judge, served, signal } = context;
  const pool = new Pool(url.origin, { connections: 1, pipelining: 1, bodyTimeout: 60_000, headersTimeout: 60_000 });
  let sent = 0;

  async function send(
    method: 'GET' | 'POST',
    headers: Record<string, string>,
    search: string,
    body?: string,
  ): Promise<HttpResponse> {
    const path = `${url.pathname}${search}`;
    const all = { ...headers, ...addressHeader(name) };
    const response = await pool.request({ method, headers: all, path, body: body ?? null });
    return { status: response.statusCode, text: await response.body.text() };
  }

  async function execute(operation: Operation): Promise<GraphqlResponse | undefined> {
    const { kind, query, variables = {} } = operation;
    const minHeight = served.highest();
    const sentAt = performance.now();
    const search = `?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(JSON.stringify(variables))}`;
    sent += 1;
    try {
      const accept = { accept: 'application/json' };
      const response = await (sent % 2 === 0 && search.length < 6_000
        ? send('GET', accept, search)
        : send('POST', { ...accept, 'content-type': 'application/json' }, '', JSON.stringify({ query, variables })));
      const answer = JSON.parse(response.text) as GraphqlResponse;
      judge.judgeResponse(name, operation, answer, { sentAt, answeredAt: performance.now(), minHeight });
      return answer;
    } catch (error) {
      if (!signal.aborted) judge.fail(`no response: ${kind} of ${name}: ${error}`, { query, variables });
      return undefined;
    }
  }

  return { execute, send, close: () => pool.destroy() };
}
