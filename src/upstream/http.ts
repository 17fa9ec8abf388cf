import { Agent, type Dispatcher, errors } from 'undici';
import {
  type ErrorDetails,
  type Upstream,
  UpstreamBadShapeError,
  UpstreamError,
  UpstreamTimeoutError,
  UpstreamUnreachableError,
} from '../errors.ts';
import { type Body, type BodyOptions, type ResponseReader, readBody } from './body.ts';
import { ACCEPT_ENCODING, decodeBody, UnreadableEncoding } from './content-encoding.ts';
import { isPageType, toRefusal } from './refusal.ts';
import { retry } from './retry.ts';
import { ShapeError, TooLargeError } from './wire.ts';

/** Asks one upstream over HTTP and has each successful answer read as it comes. */
export type HttpClient = {
  /**
   * What the reader makes of the answer; the reader is for this one alone.
   *
   * @throws UpstreamError for everything that is not a whole answer with status 200, without a page in it, that can be read
   */
  request<T>(request: HttpRequest, reader: ResponseReader<T>): Promise<T>;
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
  /** The largest answer that is read. A reader may keep less of it. */
  readonly maxBytes: number;
  /** Whether connections are kept for the next request. The node never grants it, so each call has one of its own. */
  readonly keepAlive: boolean;
  /** How many connections there are at the same time to one host; what goes beyond waits, within its deadline. */
  readonly maxConnections: number;
  /** Sent with every request, names in lower case; `authorization` comes before the name and password of a URL. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Removes secrets from what the log is told of an answer: hosts repeat what they were sent. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Told how many bytes of each answer came before it ended or was left. */
  readonly onRead?: ((bytes: number) => void) | undefined;
};

/** What the log is told of an answer that is none. */
const LOGGED_CHARACTERS = 200;

/** As much of an answer's beginning tells what it is. */
const BEGINNING_BYTES = 1_024;

/** What comes with a bad status can be JSON that says why; longer than this it is no reason. */
const REASON_BYTES = 65_536;

/**
 * Makes the transport to one upstream: a deadline for the whole answer, a cap on its size while it streams, and one
 * typed error for each way to fail.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { upstream, timeoutMs, maxBytes, keepAlive, maxConnections, headers: configured, onRead } = options;
  const { redact = (text) => text } = options;
  const agent = new Agent({
    connections: maxConnections,
    pipelining: keepAlive ? 1 : 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: timeoutMs },
  });

  async function request<T>({ url, body, signal }: HttpRequest, reader: ResponseReader<T>): Promise<T> {
    const details = { host: url.host };
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const end = signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]);
    try {
      // Every call is a read, so one that was cut off before an answer began is asked once more.
      const response = await retry(() => send(url, body, end), { times: 1, when: isReset });
      return await read(response, reader, url, details);
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
        'accept-encoding': ACCEPT_ENCODING,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...authorization(url),
        ...configured,
      },
    });
  }

  /** What the reader makes of a success; what the traffic filter or the upstream says instead is an error. */
  async function read<T>(
    response: Dispatcher.ResponseData,
    reader: ResponseReader<T>,
    url: URL,
    details: ErrorDetails,
  ): Promise<T> {
    const { statusCode: status, headers } = response;
    const isSuccess = status === 200 && !isPageType(headers['content-type']);
    const { bytes, beginning, failure } = await readDecoded(response, {
      write: isSuccess ? reader.write : undefined,
      beginningBytes: isSuccess ? BEGINNING_BYTES : REASON_BYTES,
      maxBytes,
    });
    onRead?.(bytes);

    // A secret that was cut in two would not be found.
    const says = { ...details, body: redact(beginning.slice(0, BEGINNING_BYTES)).slice(0, LOGGED_CHARACTERS) };
    const refusal = toRefusal({ upstream, url, status, headers, beginning }, { ...says, path: redact(url.pathname) });
    if (refusal !== undefined) throw refusal;
    try {
      if (failure !== undefined) throw failure;
      return reader.end();
    } catch (error) {
      if (error instanceof SyntaxError)
        throw new UpstreamBadShapeError(upstream, 'it is not JSON', { ...says, length: bytes });
      if (error instanceof ShapeError || error instanceof TooLargeError || error instanceof UnreadableEncoding)
        throw new UpstreamBadShapeError(upstream, error.message, says);
      throw error;
    }
  }

  function toUpstreamError(error: unknown, details: ErrorDetails, isLate: boolean): unknown {
    if (isLate) return new UpstreamTimeoutError(upstream, timeoutMs, details);
    if (error instanceof UpstreamError) return error;
    return new UpstreamUnreachableError(upstream, details, error);
  }

  return { request, close: () => agent.destroy() };
}

/** What was read of a body, decompressed; a status says more than a body that cannot be, so that does not fail yet. */
async function readDecoded({ body, headers }: Dispatcher.ResponseData, options: BodyOptions): Promise<Body> {
  try {
    return await readBody(decodeBody(body, headers['content-encoding']), options);
  } catch (error) {
    if (error instanceof UnreadableEncoding) return { bytes: 0, beginning: '', failure: error };
    throw error;
  }
}

function isReset(error: unknown): boolean {
  return error instanceof errors.SocketError || (error as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET';
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
