import { type Plugin, processRegularResult } from 'graphql-yoga';
import { acceptsStream, createAcceptedTypes } from '../http/accept.ts';
import { badRequest, toAnswer } from '../operations/refusal.ts';
import { isStream } from '../stream.ts';

/**
 * Chooses the JSON type of answers as it is chosen for answers from the cache, and refuses requests that accept no answer
 * that there is, before anything is executed.
 */
export function useAnswerType(): Plugin {
  const acceptedType = createAcceptedTypes();

  return {
    onRequestParse({ request, endResponse, fetchAPI }) {
      const accept = request.headers.get('accept') ?? undefined;
      if (acceptedType(accept) !== undefined || acceptsStream(accept)) return;
      const { status, headers, body } = toAnswer(NOT_ACCEPTED, undefined);
      endResponse(new fetchAPI.Response(body, { status, headers }));
    },
    onResultProcess({ request, result, resultProcessor, setResultProcessor }) {
      if (resultProcessor !== processRegularResult || isStream(result)) return;
      const type = acceptedType(request.headers.get('accept') ?? undefined);
      if (type !== undefined) setResultProcessor(processRegularResult, type);
    },
  };
}

const NOT_ACCEPTED = badRequest(
  406,
  'The Accept header must allow application/graphql-response+json or application/json, or text/event-stream for a subscription.',
);
