import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/**
 * Refuses what is not JSON: forms, because a page of another origin could post one without asking, and no GraphQL client
 * does; and variables that cannot be read.
 */
export function useJsonOnly(): Plugin {
  return {
    onRequestParse({ request, requestParser, setRequestParser, endResponse, fetchAPI }) {
      const contentType = request.headers.get('content-type') ?? '';
      if (request.method === 'POST' && /^(application\/x-www-form-urlencoded|multipart\/)/i.test(contentType)) {
        endResponse(fetchAPI.Response.json(NO_FORMS, { status: 415, headers: { accept: 'application/json' } }));
      }
      if (requestParser === undefined) return;
      setRequestParser(async (parsed) => {
        try {
          return await requestParser(parsed);
        } catch (error) {
          throw unreadable(error);
        }
      });
    },
  };
}

/** What was not read is no GraphQL request: it keeps its status, 400 if none, whatever the client accepts. */
function unreadable(error: unknown): unknown {
  if (!(error instanceof SyntaxError || error instanceof GraphQLError)) return error;

  const message = error instanceof GraphQLError ? error.message : 'A part of the request is not JSON.';
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', http: { status: statusOf(error) } } });
}

function statusOf(error: Error): number {
  const http: unknown = error instanceof GraphQLError ? error.extensions['http'] : undefined;
  const isStatus = typeof http === 'object' && http !== null && 'status' in http && typeof http.status === 'number';
  return isStatus ? Number(http.status) : 400;
}

const NO_FORMS = { errors: [{ message: 'Send JSON, not a form.', extensions: { code: 'BAD_USER_INPUT' } }] };
