import type { Plugin } from 'graphql-yoga';

/** Refuses forms: a page of another origin could post one without asking, and no GraphQL client does. */
export function useJsonOnly(): Plugin {
  return {
    onRequestParse({ request, endResponse, fetchAPI }) {
      const contentType = request.headers.get('content-type') ?? '';
      if (request.method === 'POST' && /^(application\/x-www-form-urlencoded|multipart\/)/i.test(contentType)) {
        endResponse(new fetchAPI.Response(null, { status: 415, headers: { accept: 'application/json' } }));
      }
    },
  };
}
