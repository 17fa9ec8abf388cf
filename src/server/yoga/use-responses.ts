import type { ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import { type Plugin, processRegularResult } from 'graphql-yoga';
import { toAsyncValues } from '../../live/broadcast/async-values.ts';
import { accepts, createAcceptedTypes } from '../http/accept.ts';
import { createEventStream } from '../http/event-stream.ts';
import { badRequest, toAnswer } from '../operations/refusal.ts';
import { UpdateStream } from './use-operations.ts';

/** What sending responses needs. */
export type UseResponsesOptions = {
  /** An event stream without events sends a comment this often. */
  readonly keepAliveMs: number;
  /** Called with internal errors that abort an event stream. */
  readonly internal: (error: unknown) => void;
};

/**
 * Chooses how a result is sent, in the place of Yoga: as JSON in the media type that the handler of plain queries would
 * choose, or as server-sent events. Yoga's own event streams execute updates ahead of a slow reader.
 */
export function useResponses({ keepAliveMs, internal }: UseResponsesOptions): Plugin {
  const acceptedType = createAcceptedTypes();

  /** The id of an event is the height of its update, so that a reader resumes after it. */
  function openEventStream({ updates }: UpdateStream, request: Request, response: ServerResponse | undefined) {
    const events = createEventStream({
      results: toAsyncValues(updates),
      toEvent: (update) => ({ id: update.height, data: update.toText() }),
      keepAliveMs,
    });
    events.once('error', (error) => {
      internal(error);
      response?.destroy();
    });
    const leave = () => events.destroy();
    if (request.signal.aborted) leave();
    else request.signal.addEventListener('abort', leave, { once: true });
    // Yoga's Response sends a Readable as it is, though its type knows web streams only.
    return events as unknown as ReadableStream;
  }

  return {
    onRequestParse({ request, endResponse, fetchAPI }) {
      const accept = request.headers.get('accept') ?? undefined;
      if (acceptedType(accept) !== undefined || accepts(accept, EVENT_STREAM) || accepts(accept, MULTIPART)) return;
      const { status, headers, body } = toAnswer(NOT_ACCEPTED, undefined);
      endResponse(new fetchAPI.Response(body, { status, headers }));
    },
    onResultProcess({ request, result, setResult, setResultProcessor, serverContext }) {
      const accept = request.headers.get('accept') ?? undefined;
      const type = acceptedType(accept);
      if (Array.isArray(result)) {
        setResult(result.map((each) => (each instanceof UpdateStream ? refused(IN_AN_ARRAY) : each)));
        if (type !== undefined) setResultProcessor(processRegularResult, type);
      } else if (result instanceof UpdateStream) {
        if (accepts(accept, EVENT_STREAM)) {
          const { res } = serverContext as { readonly res?: ServerResponse };
          const body = openEventStream(result, request, res);
          setResultProcessor((_result, { Response }) => new Response(body, { headers: EVENT_HEADERS }), EVENT_STREAM);
        } else {
          setResult(refused(accepts(accept, MULTIPART) ? `${NO_MULTIPART} ${NO_STREAM}` : NO_STREAM));
          setResultProcessor(
            (error, { Response }) =>
              Response.json(error, { status: 406, headers: { 'content-type': type ?? 'application/json' } }),
            type ?? 'application/json',
          );
        }
      } else if (type !== undefined) {
        setResultProcessor(processRegularResult, type);
      } else if (request.method === 'GET' && isFinal(result as Result)) {
        setResultProcessor((error, fetchAPI) => {
          const { body, status, headers } = processRegularResult(error as never, fetchAPI, 'application/json');
          return new fetchAPI.Response(body, { status: status === 200 ? 400 : status, headers });
        }, 'application/json');
      }
    },
  };
}

const EVENT_STREAM = 'text/event-stream';
const MULTIPART = 'multipart/mixed';

/** No `connection`: the HTTP server decides whether a connection stays open. */
const EVENT_HEADERS = { 'content-type': EVENT_STREAM, 'cache-control': 'no-cache', 'content-encoding': 'none' };

const NOT_ACCEPTED = badRequest(
  406,
  'The Accept header must allow application/graphql-response+json or application/json, or text/event-stream for a subscription.',
);
const NO_STREAM = 'A subscription requires a websocket, or a client that accepts text/event-stream.';
const NO_MULTIPART = 'Multipart subscriptions are not supported.';
const IN_AN_ARRAY = 'An array of operations cannot contain a subscription.';

function refused(message: string): { errors: [GraphQLError] } {
  return { errors: [new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } })] };
}

type Result = { readonly data?: unknown; readonly errors?: readonly { readonly extensions?: object }[] };

/**
 * Whether the same operation can never succeed. An EventSource connects again after every stream that ends. It gives up only
 * at a status such as 400. A client that sends POST reads the errors from the stream, as in graphql-sse.
 */
function isFinal({ data, errors = [] }: Result): boolean {
  return data == null && errors.length > 0 && !errors.some(isTemporary);
}

/** Whether an error is of an upstream, of the gateway or of this moment. */
function isTemporary({ extensions }: { readonly extensions?: object }): boolean {
  const { code } = extensions as { readonly code?: unknown };
  if (typeof code !== 'string' || code === 'RATE_LIMITED' || code === 'INTERNAL_SERVER_ERROR') return true;
  return code.startsWith('UPSTREAM_') && code !== 'UPSTREAM_NOT_CONFIGURED';
}
