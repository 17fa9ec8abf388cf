import { type Plugin, processRegularResult } from 'graphql-yoga';
import { createAcceptedTypes } from '../http/accept.ts';
import { isStream } from '../stream.ts';

/**
 * Answers a GET for an event stream with status 400 and JSON, where its operation can never succeed.
 *
 * A browser's EventSource connects again after every stream that ends, and gives up only at such a status. A client that
 * sends POST reads the errors from the stream, as graphql-sse has it.
 */
export function useRefusedStreams(): Plugin {
  const acceptedType = createAcceptedTypes();

  return {
    onResultProcess({ request, result, resultProcessor, setResultProcessor }) {
      if (request.method !== 'GET' || resultProcessor === undefined || isStream(result) || Array.isArray(result))
        return;
      if (acceptedType(request.headers.get('accept') ?? undefined) !== undefined || !isRefused(result)) return;

      setResultProcessor((refused, fetchAPI) => {
        const { body, status, headers } = processRegularResult(refused as typeof result, fetchAPI, JSON_TYPE);
        return new fetchAPI.Response(body, { status: status === 200 ? 400 : status, headers });
      }, JSON_TYPE);
    },
  };
}

const JSON_TYPE = 'application/json';

type Result = { readonly data?: unknown; readonly errors?: readonly { readonly extensions?: object }[] };

/** Whether nothing was executed, and nothing will be however often the same is sent. */
function isRefused({ data, errors = [] }: Result): boolean {
  return data == null && errors.length > 0 && !errors.some(isPassing);
}

/** Whether an error is of an upstream, of the gateway or of this moment: the same operation may succeed later. */
function isPassing({ extensions }: { readonly extensions?: object }): boolean {
  const { code } = extensions as { readonly code?: unknown };
  if (typeof code !== 'string' || code === 'RATE_LIMITED' || code === 'INTERNAL_SERVER_ERROR') return true;
  return code.startsWith('UPSTREAM_') && code !== 'UPSTREAM_NOT_CONFIGURED';
}
