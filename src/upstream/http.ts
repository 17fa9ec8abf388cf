import { Agent, type Dispatcher, errors } from 'undici';
import {
  type Upstream,
  UpstreamBadShapeError,
  UpstreamBadStatusError,
  UpstreamError,
  UpstreamFilteredError,
  UpstreamTimeoutError,
  UpstreamUnreachableError,
} from '../errors.ts';
import { retry } from './retry.ts';

/** Asks one upstream over HTTP and gives the text of each successful answer. */
export type HttpClient = {
  /** @throws UpstreamError for everything that is not a whole answer with status 200 and without a page in it */
  request(request: HttpRequest): Promise<string>;
  /** Breaks off what is under way; later requests fail. */
  close(): Promise<void>;
};

/** A request to an upstream: GET, or POST where there is a body. */
export type HttpRequest = {
  readonly url: URL;
  readonly body?: string | undefined;
  /** Gives the request up; it then fails with the reason that is given there. */
  readonly signal?: AbortSignal | undefined;
};

/** How an upstream is asked. */
export type HttpClientOptions = {
  readonly upstream: Upstream;
  /** For the whole answer, from the first connection to the last byte, retries included. */
  readonly timeoutMs: number;
  /** The largest answer that is read. */
  readonly maxBytes: number;
  /** Whether connections are kept for the next request. The node never grants it, so each call has one of its own. */
  readonly keepAlive: boolean;
  /** How many connections there are at the same time to one host; what goes beyond waits, within its deadline. */
  readonly maxConnections: number;
  /** Told how many bytes each answer had. */
  readonly onRead?: ((bytes: number) => void) | undefined;
};

/**
 * Makes the transport to one upstream: a deadline for the whole answer, a cap on its size while it streams, and one
 * typed error for each way to fail.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { upstream, timeoutMs, maxBytes, keepAlive, maxConnections, onRead } = options;
  const agent = new Agent({
    connections: maxConnections,
    pipelining: keepAlive ? 1 : 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: timeoutMs },
  });

  async function request({ url, body, signal }: HttpRequest): Promise<string> {
    const details = { host: url.host };
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const end = signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]);
    try {
      // Every call is a read, so one that was cut off before an answer began is asked once more.
      const response = await retry(() => send(url, body, end), { times: 1, when: isReset });
      const bytes = await readAtMost(response.body, maxBytes);
      if (bytes === undefined) throw new UpstreamBadShapeError(upstream, `more than ${maxBytes} bytes`, details);

      onRead?.(bytes.length);
      return accept(response, bytes.toString('utf8'), details);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw toUpstreamError(error, details, deadline.signal.aborted);
    } finally {
      clearTimeout(timer);
    }
  }

  function send(url: URL, body: string | undefined, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    return agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      signal,
      method: body === undefined ? 'GET' : 'POST',
      body: body ?? null,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...authorization(url),
      },
    });
  }

  /** The text of a success; what the traffic filter or the upstream says instead is an error. */
  function accept({ statusCode, headers }: Dispatcher.ResponseData, text: string, details: object): string {
    const says = { ...details, body: text.slice(0, 200) };
    const retryAfterMs = readRetryAfter(headers['retry-after']);
    if (isPage(headers['content-type'], text))
      throw new UpstreamFilteredError(upstream, statusCode, says, retryAfterMs);
    if (statusCode !== 200) throw new UpstreamBadStatusError(upstream, statusCode, text, says, retryAfterMs);
    return text;
  }

  function toUpstreamError(error: unknown, details: object, isLate: boolean): unknown {
    if (isLate) return new UpstreamTimeoutError(upstream, timeoutMs, { ...details });
    if (error instanceof UpstreamError) return error;
    return new UpstreamUnreachableError(upstream, { ...details }, error);
  }

  return { request, close: () => agent.destroy() };
}

function isReset(error: unknown): boolean {
  return error instanceof errors.SocketError || (error as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET';
}

/** The body, or `undefined` as soon as it proves larger than that. */
async function readAtMost(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function isPage(contentType: string | string[] | undefined, text: string): boolean {
  return String(contentType ?? '').startsWith('text/html') || text.trimStart().startsWith('<');
}

/** How long an upstream wants to be left alone: in whole seconds, or until a date. */
function readRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = String(header ?? '').trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return ms > 0 ? ms : undefined;
}

/** A node may want a name and a password, given in its address. */
function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** A URL keeps a `%` that begins no code as it is. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
