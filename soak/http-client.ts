import { Pool } from 'undici';
import { addressHeader } from './client-address.ts';
import type { SoakContext } from './context.ts';
import type { GraphqlResponse, Operation } from './judge.ts';
import { failWithout, withinLimit } from './response-limit.ts';
import { MINIMUM } from './routes.ts';

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
  const { routes, judge, served } = context;
  const pools = new Map<string, Pool>();
  let sent = 0;
  let newest = 0;

  function poolOf({ origin }: URL): Pool {
    const pool =
      pools.get(origin) ??
      new Pool(origin, { connections: 1, pipelining: 1, bodyTimeout: 60_000, headersTimeout: 60_000 });
    pools.set(origin, pool);
    return pool;
  }

  async function send(
    method: 'GET' | 'POST',
    headers: Record<string, string>,
    search: string,
    body?: string,
    url = routes.next(),
  ): Promise<HttpResponse> {
    const path = `${url.pathname}${search}`;
    const all = { ...headers, ...addressHeader(name) };
    const read = async () => {
      const response = await poolOf(url).request({ method, headers: all, path, body: body ?? null });
      return { status: response.statusCode, text: await response.body.text() };
    };
    return withinLimit(read());
  }

  async function execute(operation: Operation): Promise<GraphqlResponse | undefined> {
    const { kind, query, variables = {} } = operation;
    const url = routes.next();
    const named = routes.namesMinimum(name) ? { [MINIMUM]: String(served.highest()) } : {};
    const minHeight = minimumOf(context, name);
    const sentAt = performance.now();
    const search = `?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(JSON.stringify(variables))}`;
    sent += 1;
    try {
      const headers = { accept: 'application/json', ...named };
      const body = JSON.stringify({ query, variables });
      const response = await (sent % 2 === 0 && search.length < 6_000
        ? send('GET', headers, search, undefined, url)
        : send('POST', { ...headers, 'content-type': 'application/json' }, '', body, url));
      const answer = JSON.parse(response.text) as GraphqlResponse;
      judge.judgeResponse(name, operation, answer, { sentAt, answeredAt: performance.now(), minHeight });
      const { beaconHeight: height = newest } = (answer.data ?? {}) as { readonly beaconHeight?: number };
      // With a minimum, and from one gateway, this is a wrong response.
      if (minHeight === 0 && height < newest) judge.count('heights that went back for clients without a minimum');
      newest = Math.max(newest, height);
      return answer;
    } catch (error) {
      if (routes.explainsLoss(url, sentAt)) judge.count('requests lost with a gateway');
      else failWithout(context, `${kind} of ${name}`, error, { query, variables });
      return undefined;
    }
  }

  return {
    execute,
    send: (method, headers, search, body) => send(method, headers, search, body),
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

/** The lowest height that a response to this client may have if it is sent now. */
export function minimumOf({ routes, served, replicas }: SoakContext, name: string): number {
  return replicas === 1 || routes.namesMinimum(name) ? served.highest() : 0;
}
