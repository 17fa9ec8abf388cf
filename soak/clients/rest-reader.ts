import { Agent } from 'undici';
import { addressHeader } from '../client-address.ts';
import { type Client, pause, pick } from '../context.ts';
import { minimumOf } from '../http-client.ts';
import type { GraphqlResponse } from '../judge.ts';
import { orderBookRequest, type RestRequest, tickersRequest } from '../queries/rest.ts';
import { tradesRequest } from '../queries/rest-trades.ts';
import { failWithout, withinLimit } from '../response-limit.ts';
import { MINIMUM } from '../routes.ts';

const REQUESTS = [tickersRequest, orderBookRequest];

/** A fleet of the soak test has no history. */
const REQUESTS_ALONE = [...REQUESTS, tradesRequest];
const BASE = '/api/v1/public/market-data';

/** Reads tickers and order books by REST, as a listing site does, but more often. */
export const readRest: Client = async (context, name, random) => {
  const { routes, judge, served, signal, load } = context;
  const agent = new Agent({ connections: 1, pipelining: 1, bodyTimeout: 60_000, headersTimeout: 60_000 });

  async function send({ path, toData, ofNode }: RestRequest, { origin }: URL): Promise<GraphqlResponse> {
    const named = routes.namesMinimum(name) ? { [MINIMUM]: String(served.highest()) } : {};
    const headers = { ...addressHeader(name), ...named };
    const response = await agent.request({ origin, method: 'GET', path: `${BASE}/${path}`, headers });
    const document = (await response.body.json()) as Readonly<Record<string, unknown>>;
    const { 'x-pdex-height': height } = response.headers;
    if (response.statusCode === 200)
      return { data: toData(document, height === undefined ? undefined : Number(height)) };
    const { code, message } = document as { readonly code: string; readonly message: string };
    if (ofNode !== undefined && message.startsWith('The node'))
      return { data: null, errors: [{ message, path: ofNode, extensions: { code, upstream: 'NODE' } }] };
    return { data: null, errors: [{ message, extensions: { code, upstream: 'MARKET_DATA' } }] };
  }

  while (!signal.aborted) {
    const request = pick(random, context.replicas === 1 ? REQUESTS_ALONE : REQUESTS)(context, random);
    const url = routes.next();
    const minHeight = minimumOf(context, name);
    const sentAt = performance.now();
    try {
      const answer = await withinLimit(send(request, url));
      judge.judgeResponse(name, request.operation, answer, { sentAt, answeredAt: performance.now(), minHeight });
    } catch (error) {
      if (routes.explainsLoss(url, sentAt)) judge.count('requests lost with a gateway');
      else failWithout(context, `${request.operation.kind} of ${name}`, error);
    }
    await pause(random, 0, 200 / load, signal);
  }
  await agent.destroy();
};
