import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { GraphQLError } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { schema } from '../../graphql/schema.ts';
import type { Subscribe } from '../../live/broadcast/broadcast.ts';
import { Account } from '../clients/rate-limits.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RespondToArray } from '../operations/array-response.ts';
import {
  EncodedResponse,
  type EncodedUpdate,
  refusedResponse,
  type StartedSubscription,
} from '../operations/encoded-response.ts';
import { type AccessDetails, codesOf, summarizeErrors } from '../operations/log-details.ts';
import type { Pipeline } from '../operations/pipeline.ts';
import { type Client, createStreamCheck } from '../operations/prepared-operation.ts';
import { createEventStream, type EventStreamOptions } from '../requests/event-stream.ts';
import { LAST_EVENT_ID_HEADER, METHODS, MIN_HEIGHT_HEADER, wantsCost } from '../requests/headers.ts';
import type { HttpExchange } from '../requests/http-exchange.ts';
import { type BodyKind, createNegotiation, isCompressed, readContentType } from '../requests/media-types.ts';
import { decodeBody, type Entry, readEntries, readFromUrl, readJson, readOperation } from '../requests/parameters.ts';
import { compressed, notAcceptable, notReadable, requestError } from '../requests/refusal.ts';
import type { TransportOptions } from '../transport-options.ts';
import { encode } from './encode.ts';

/** What the HTTP server passes to Yoga with a request. A request of `gateway.fetch` has none. */
export type ServerContext = { readonly served?: ServedRequest };

type ServedRequest = Omit<HttpExchange, 'endpoint' | 'sentBefore'> & {
  /** The points that were charged for the request. */
  readonly paid: number;
  /** Called before the response is written. @param retryAfter its header `retry-after` */
  readonly begin: (access: AccessDetails, retryAfter: string | undefined) => void;
};

type UseOperationsOptions = EventStreamOptions &
  Pick<TransportOptions, 'clients' | 'rates' | 'persisted' | 'tracing'> & {
    readonly pipeline: Pick<Pipeline, 'admit' | 'respond'>;
    readonly respondToArray: RespondToArray;
    readonly metrics: Pick<Metrics, 'recordErrors'>;
    readonly maxOperationsPerRequest: number;
    /** Called with each event stream that has no HTTP response. */
    readonly trackStream: (stream: Readable) => void;
  };

/** What a request contains, as Yoga hands it on from the parser to the handler. Yoga requires a query. */
function toParams(sent: Entry | readonly Entry[]): GraphQLParams {
  return { query: '', extensions: { sent } };
}

/** The result of a request, as Yoga hands it on from the handler to the encoder. */
type Results = {
  readonly errors: readonly GraphQLError[];
  readonly outcome?: EncodedResponse | StartedSubscription;
  readonly access?: AccessDetails;
};

/**
 * Reads requests, takes their operations through the pipeline and encodes the results, in the place of Yoga's own parsers,
 * execution and encoding. Bodies are JSON or GraphQL in UTF-8: forms are refused, because no GraphQL client sends them.
 */
export function useOperations(options: UseOperationsOptions): Plugin<object, ServerContext> {
  const { pipeline, respondToArray, persisted, clients, rates, tracing, maxOperationsPerRequest, metrics } = options;
  const { trackStream } = options;
  const accepted = createNegotiation();

  async function readSent(request: Request, kind: BodyKind): Promise<Entry | readonly Entry[]> {
    const bytes = new Uint8Array(await request.arrayBuffer().catch(throwUnreadable));
    if (kind === 'graphql') return { query: decodeBody(bytes) };
    const params = readJson(bytes);
    return Array.isArray(params) ? readEntries(params, maxOperationsPerRequest) : readOperation(params);
  }

  async function run(sent: Entry | readonly Entry[], request: Request, served?: ServedRequest): Promise<Results> {
    const headers = Object.fromEntries(request.headers);
    const clientAt = (index: number): Client => ({
      address: served && clients.of(served.request),
      connection: served?.response,
      receivedAt: served?.startedAt,
      account: new Account(rates, served?.request, 'http', index === 0 ? served?.paid : 0),
      minHeight: headers[MIN_HEIGHT_HEADER],
      wantsCost: wantsCost({ headers }),
      lastEventId: headers[LAST_EVENT_ID_HEADER],
      span: tracing?.startOperation('http', served?.id, headers, served?.startedAt),
    });
    const [first] = [sent].flat();
    const label = persisted.labelOf(first);
    if (isList(sent)) {
      const { response, access } = await respondToArray(sent, clientAt);
      return { errors: [], outcome: response, access: { label, ...access } };
    }
    const client = clientAt(0);
    const check = createStreamCheck(accepted(headers['accept']), pipeline.admit);
    const result = await pipeline.respond(sent, client, check);
    const isResponse = result instanceof EncodedResponse;
    client.span?.end({ codes: isResponse ? codesOf(result.errors) : [] });
    const access = { label, ...(isResponse ? result.accessDetails : { cost: result.points }) };
    return { errors: [], outcome: result, access };
  }

  function open(updates: Subscribe<EncodedUpdate>, { signal }: Request, response?: ServerResponse): Readable {
    if (response !== undefined) return createEventStream(updates, options, response);
    // A reader that cancels, and a request that is aborted, are no errors of the gateway.
    const isOfReader = (error: unknown) => signal.aborted || (error as Error).name === 'AbortError';
    const internal = (error: unknown) => isOfReader(error) || options.internal(error);
    const events = createEventStream(updates, { ...options, internal });
    trackStream(events);
    const abort = () => events.destroy(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    return events;
  }

  return {
    onRequest({ request, setRequest, endResponse, fetchAPI, serverContext }) {
      // Yoga does not know HEAD. Node sends no body in the response to it.
      const { url, method, headers, signal } = request;
      if (method === 'HEAD') setRequest(new fetchAPI.Request(url, { method: 'GET', headers, signal }));
      if (method !== 'OPTIONS') return;
      serverContext?.served?.begin({}, undefined);
      endResponse(new fetchAPI.Response(null, { status: 204, headers: { allow: METHODS } }));
    },
    onRequestParse({ request, setRequestParser }) {
      const { method, headers } = request;
      const { json, events, multipart } = accepted(headers.get('accept'));
      if (json === undefined && !events && !multipart) throw notAcceptable();
      if (method === 'GET') setRequestParser((received) => toParams(readFromUrl(received.url)));
      if (method !== 'POST') return;
      if (isCompressed(headers.get('content-encoding'))) throw compressed();
      const kind = readContentType(headers.get('content-type') ?? undefined);
      if (kind === undefined) throw notReadable();
      setRequestParser(async (received) => toParams(await readSent(received, kind)));
    },
    onParams({ params, setParamsHandler, context: { served } }) {
      setParamsHandler(({ request }) => run(params.extensions?.['sent'] ?? {}, request, served));
    },
    onResultProcess({ request, result, setResultProcessor, serverContext: { served } }) {
      const { errors = [], outcome, access = { errors: summarizeErrors(errors) } } = result as Partial<Results>;
      const isHead = served?.request.method === 'HEAD';
      const { status, headers, body } = encode(outcome ?? refusedResponse(...errors), {
        accepted: accepted(request.headers.get('accept')),
        isGet: request.method === 'GET',
        open: (updates) => (isHead ? '' : open(updates, request, served?.response)),
        recordErrors: metrics.recordErrors,
      });
      served?.begin(access, headers['retry-after']);
      setResultProcessor((_result, { Response }) => new Response(body as BodyInit, { status, headers }), '*/*');
    },
  };
}

/** Throws the error of a body that cannot be read. One that is too large has an error of its own. All others have ended early. */
function throwUnreadable(error: unknown): never {
  throw error instanceof GraphQLError ? error : requestError(400, 'The body cannot be read to its end.');
}

function isList(sent: Entry | readonly Entry[]): sent is readonly Entry[] {
  return Array.isArray(sent);
}

/** The HTTP layer for requests that are not plain: event streams, wrong methods and types, and those of `gateway.fetch`. */
export type Yoga = YogaServerInstance<ServerContext, object>;

type GatewayYogaOptions = UseOperationsOptions & {
  readonly maxBodyBytes: number;
  readonly maskError: (error: unknown) => GraphQLError;
};

/** Creates Yoga with the pipeline in the place of its execution. */
export function createGatewayYoga(options: GatewayYogaOptions): Yoga {
  const { maxBodyBytes, maskError } = options;
  return createYoga<ServerContext, object>({
    schema,
    // The routes of the server have checked the path. Express leaves the prefix of a mounted handler in it.
    graphqlEndpoint: '/*',
    // The gateway has a health check of its own. Yoga responds to URLs that end with this text: none can end with a space.
    healthCheckEndpoint: ' ',
    maskedErrors: { maskError },
    maxRequestBodySize: maxBodyBytes,
    // The pipeline parses, validates and executes, and has arrays of operations.
    parserAndValidationCache: false,
    batching: false,
    multipart: false,
    landingPage: false,
    // The endpoint checks origins, and browsers get GraphiQL before a request comes here.
    cors: false,
    graphiql: false,
    logging: false,
    plugins: [useOperations(options)],
  });
}

/**
 * Executes a request without a server. The response to a HEAD is that to a GET without its body. Yoga's responses are of a class of its
 * own: frameworks refuse those, and they cannot be cloned.
 */
export async function fetchWith(yoga: Yoga, request: Request): Promise<Response> {
  const response: Response = await yoga.fetch(request);
  if (request.method !== 'HEAD') return new Response(response.body, response);
  await response.body?.cancel();
  return new Response(null, response);
}
