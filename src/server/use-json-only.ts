import type { Plugin } from 'graphql-yoga';
import { refusal } from './refusal.ts';

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
          throw error instanceof SyntaxError ? refusal('BAD_USER_INPUT', 'A part of the request is not JSON.') : error;
        }
      });
    },
  };
}

const NO_FORMS = { errors: [{ message: 'Send JSON, not a form.', extensions: { code: 'BAD_USER_INPUT' } }] };
