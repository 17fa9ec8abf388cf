import { handleWhen, retry } from 'cockatiel';
import type { Dispatcher } from 'undici';
import {
  type AnyUpstream,
  type ErrorDetails,
  UpstreamBadShapeError,
  UpstreamError,
  UpstreamTimeoutError,
  UpstreamUnreachableError,
} from '../errors.ts';
import type { CallSpan, Tracing } from '../tracing/tracing.ts';
import { createAgent } from './agent.ts';
import { ownHeaders } from './credentials.ts';
import { type ProxySettings, proxyOf } from './proxies.ts';
import {
  ACCEPT_ENCODING,
  decompressBody,
  type ResponseReader,
  readResponseBody,
  UnreadableEncoding,
} from './response-body.ts';
import { tlsHintOf, toResponseError } from './response-error.ts';
import { ShapeError, TooLargeError } from './wire.ts';

/** An HTTP client for one upstream. Each response is read while it arrives. */
export type HttpClient = ReturnType<typeof createHttpClient>;

/** A request to an upstream: POST with a body, else GET. */
export type HttpRequest = {
  /** The name of the call in traces; by default the HTTP method. */
  readonly name?: string | undefined;
  readonly url: URL;
  readonly body?: string | undefined;
  /** Aborts the request, which then fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
};

/** How requests are sent. */
export type HttpClientOptions = {
  readonly upstream: AnyUpstream;
  /** For one request, from the connection to the last byte of the response, retries included. */
  readonly timeoutMs: number;
  /** The largest response that is read. */
  readonly maxBytes: number;
  /** Whether connections are used again. The node never allows it, so each call has a connection of its own. */
  readonly keepAlive: boolean;
  /** Maximum number of connections to one host at a time. Further requests wait, within their timeout. */
  readonly maxConnections: number;
  /** Sent with every request, with names in lower case. `authorization` overrides the user and password of a URL. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Removes secrets from the part of a response that is logged: hosts repeat what they were sent. */
  readonly redact?: ((text: string, options?: { readonly isCut?: boolean }) => string) | undefined;
  /** Called for each response with the number of bytes that were read. */
  readonly onRead?: ((bytes: number) => void) | undefined;
  /** The proxies of requests; by default, all are sent directly. */
  readonly proxies?: ProxySettings | undefined;
  /** Records each request as a span. Traced requests have the headers with the trace context. */
  readonly tracing?: Tracing | undefined;
};

const LOGGED_CHARACTERS = 200;

/** Enough of a response to see what it is. */
const BEGINNING_BYTES = 1_024;

/** The body of a bad status can be JSON with the reason. It is read up to this size. */
const REASON_BYTES = 65_536;

/**
 * Creates the HTTP client of one upstream: with a timeout for the complete response, a maximum size while it arrives, and one
 * typed error for each kind of failure.
 */
export function createHttpClient(options: HttpClientOptions) {
  const { upstream, timeoutMs, maxBytes, keepAlive, maxConnections, headers: configured, onRead } = options;
  const { redact = (text) => text, tracing, proxies } = options;
  const agent = createAgent({
    connections: maxConnections,
    pipelining: keepAlive ? 1 : 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeoutMs: timeoutMs,
    proxies,
  });

  /**
   * Sends a request. @returns the value of the reader, which is used for this response alone
   *
   * @throws UpstreamError for every response that is not complete, not of status 200, an HTML page, or not readable; the
   *   reason of the signal if it aborts
   */
  async function request<T>(sent: HttpRequest, reader: ResponseReader<T>): Promise<T> {
    const { url, signal } = sent;
    const span = tracing?.startCall(sent.name ?? methodOf(sent), upstream, url);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const end = signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]);
    try {
      const response = await retryReset.execute(() => send(sent, end, span));
      const value = await read(response, reader, url, span);
      span?.end();
      return value;
    } catch (error) {
      const failure = signal?.aborted ? signal.reason : toUpstreamError(error, url, deadline.signal.aborted);
      // The gateway aborts a call for example because another node was faster.
      span?.end(failure instanceof UpstreamError ? failure.code : 'aborted');
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }

  function send(request: HttpRequest, signal: AbortSignal, span: CallSpan | undefined) {
    const { url, body } = request;
    span?.sent();
    return agent.request(url, {
      signal,
      method: methodOf(request),
      body: body ?? null,
      headers: {
        accept: 'application/json',
        'accept-encoding': ACCEPT_ENCODING,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...ownHeaders(url),
        ...span?.headers,
        ...configured,
      },
    });
  }

  /** Reads a successful response. Every other one is an error of the upstream, or of a traffic filter in front of it. */
  async function read<T>(
    response: Dispatcher.ResponseData,
    reader: ResponseReader<T>,
    url: URL,
    span: CallSpan | undefined,
  ): Promise<T> {
    const { statusCode: status, headers } = response;
    const isSuccess = status === 200;
    const { bytes, beginning, failure } = await readResponseBody(
      decompressBody(response.body, headers['content-encoding']),
      {
        write: isSuccess ? reader.write : undefined,
        beginningBytes: isSuccess ? BEGINNING_BYTES : REASON_BYTES,
        maxBytes,
      },
    );
    onRead?.(bytes);
    span?.received(status, bytes);

    // Redacted before it is shortened: half of a secret would not be found.
    const isCut = bytes > BEGINNING_BYTES;
    const body = redact(beginning.slice(0, BEGINNING_BYTES), { isCut }).slice(0, LOGGED_CHARACTERS);
    const logged = { ...addressesOf(url), body };
    const received = { upstream, url, status, headers, beginning };
    const responseError = toResponseError(received, { ...logged, path: redact(url.pathname) });
    if (responseError !== undefined) throw responseError;
    try {
      if (failure !== undefined) throw failure;
      return reader.end();
    } catch (error) {
      if (error instanceof SyntaxError)
        throw new UpstreamBadShapeError(upstream, 'it is not JSON', { ...logged, length: bytes });
      if (error instanceof ShapeError || error instanceof TooLargeError || error instanceof UnreadableEncoding)
        throw new UpstreamBadShapeError(upstream, error.message, logged);
      throw error;
    }
  }

  function toUpstreamError(error: unknown, url: URL, isTimeout: boolean): UpstreamError {
    if (isTimeout) return new UpstreamTimeoutError(upstream, timeoutMs, addressesOf(url));
    if (error instanceof UpstreamError) return error;
    return new UpstreamUnreachableError(upstream, { ...addressesOf(url), ...tlsHintOf(error, url) }, error);
  }

  /** For the log: a response can also be that of the proxy. */
  function addressesOf(url: URL): ErrorDetails {
    const proxy = proxyOf(url, proxies);
    return { host: url.host, ...(proxy && { proxy: proxy.url.host }) };
  }

  /** `close` aborts all requests. Later requests fail. */
  return { request, close: () => agent.destroy() };
}

/** Every request only reads, so one whose connection broke before the response began is repeated once. */
const retryReset = retry(handleWhen(isReset), { maxAttempts: 1 });

function isReset(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET';
}

function methodOf({ body }: HttpRequest): 'GET' | 'POST' {
  return body === undefined ? 'GET' : 'POST';
}
