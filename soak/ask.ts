import { Pool } from 'undici';
import { fromItsAddress } from './address.ts';
import type { Answer, Question } from './judge.ts';
import type { Stage } from './stage.ts';

/** A client of the HTTP door, with one connection that it keeps. */
export type HttpClient = {
  /** Asks, has the answer judged, and hands it over; `undefined` where there was none. */
  ask(question: Question): Promise<Answer | undefined>;
  /** Sends any request and gives what came back. */
  send(method: 'GET' | 'POST', headers: Record<string, string>, query: string, body?: string): Promise<HttpAnswer>;
  close(): Promise<void>;
};

/** What came back. */
type HttpAnswer = { readonly status: number; readonly text: string };

/** Makes a client of that name. Every other question is asked with GET where its text is short enough. */
export function createHttpClient(stage: Stage, name: string): HttpClient {
  const { url, judge, served, signal } = stage;
  const pool = new Pool(url.origin, { connections: 1, pipelining: 1, bodyTimeout: 60_000, headersTimeout: 60_000 });
  let asked = 0;

  async function send(
    method: 'GET' | 'POST',
    headers: Record<string, string>,
    query: string,
    body?: string,
  ): Promise<HttpAnswer> {
    const path = `${url.pathname}${query}`;
    const all = { ...headers, ...fromItsAddress(name) };
    const response = await pool.request({ method, headers: all, path, body: body ?? null });
    return { status: response.statusCode, text: await response.body.text() };
  }

  async function ask(question: Question): Promise<Answer | undefined> {
    const { kind, query, variables = {} } = question;
    const floor = served.highest();
    const sentAt = performance.now();
    const search = `?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(JSON.stringify(variables))}`;
    asked += 1;
    try {
      const accept = { accept: 'application/json' };
      const response = await (asked % 2 === 0 && search.length < 6_000
        ? send('GET', accept, search)
        : send('POST', { ...accept, 'content-type': 'application/json' }, '', JSON.stringify({ query, variables })));
      const answer = JSON.parse(response.text) as Answer;
      judge.answer(name, question, answer, { sentAt, answeredAt: performance.now(), floor });
      return answer;
    } catch (error) {
      if (!signal.aborted) judge.wrong(`no answer: ${kind} of ${name}: ${error}`, { query, variables });
      return undefined;
    }
  }

  return { ask, send, close: () => pool.destroy() };
}
