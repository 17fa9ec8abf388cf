import type { GraphQLError } from 'graphql';

/** The extension `http` of an error, as in Yoga: what the error means for the HTTP response. */
type HttpExtension = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the status is for clients that accept `application/graphql-response+json` only. */
  readonly spec?: boolean;
};

/** The highest status of the errors, and all their headers. Without a status, the response is a success. */
export function statusOf(errors: readonly GraphQLError[], type: string) {
  let highest = 0;
  const headers: Record<string, string> = {};
  for (const { extensions } of errors) {
    const { http = {} } = extensions as { readonly http?: HttpExtension };
    for (const [name, value] of Object.entries(http.headers ?? {})) headers[name.toLowerCase()] = value;
    if (type !== 'application/graphql-response+json' && http.spec) continue;
    highest = Math.max(highest, http.status ?? 0);
  }
  return { status: highest || 200, headers };
}
