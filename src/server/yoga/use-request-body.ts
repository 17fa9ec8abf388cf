import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { TakeTurn } from '../../graphql/execution/time-slice.ts';
import { readContentType } from '../requests/media-types.ts';
import { hasInvalidUtf8 } from '../requests/parameters.ts';
import { badRequest } from '../requests/refusal.ts';

/**
 * Reads the parameters of a request, in the place of Yoga. Bodies are JSON or GraphQL in UTF-8: forms are refused, because no
 * GraphQL client sends them. The status of a malformed request is the same for all clients.
 */
export function useRequestBody(takeTurn: TakeTurn): Plugin {
  return {
    onRequestParse({ request, requestParser, setRequestParser }) {
      if (request.method === 'GET' && requestParser !== undefined) {
        const parseSearch = requestParser;
        setRequestParser(async (received) => {
          if (hasInvalidUtf8(received.url)) throw badRequest(400, 'The URL is not valid UTF-8.');
          const params = await orBadRequest('A parameter of the URL is not valid JSON.', () => parseSearch(received));
          const documentId = URL.parse(received.url)?.searchParams.get('documentId');
          return Object.assign(params, { documentId });
        });
      }
      if (request.method !== 'POST') return;
      if ((request.headers.get('content-encoding') ?? 'identity') !== 'identity')
        throw badRequest(415, 'Compressed request bodies are not supported. Send the body without Content-Encoding.');
      const kind = readContentType(request.headers.get('content-type') ?? undefined);
      if (kind === undefined) throw badRequest(415, NOT_READ, { 'accept-post': 'application/json' });
      setRequestParser(async (received) => {
        const bytes = await received.arrayBuffer();
        // The first request creates Yoga in this turn. Parsing a large body takes as long.
        await takeTurn();
        const text = orBadRequest('The body is not valid UTF-8.', () => UTF_8.decode(bytes));
        if (kind === 'graphql') return { query: text };
        const params: unknown = orBadRequest('The body is not valid JSON.', () => JSON.parse(text));
        // In an array, null is an operation without a query, which has its own error.
        if (Array.isArray(params)) return params.map((each) => each ?? {});
        if (typeof params === 'object' && params !== null) return params;
        throw badRequest(400, 'The body must be a JSON object with a query.');
      });
    },
  };
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

const NOT_READ = 'Send the body as JSON in UTF-8, with the header "Content-Type: application/json".';

function orBadRequest<T>(message: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof GraphQLError ? error : badRequest(400, message);
  }
}
