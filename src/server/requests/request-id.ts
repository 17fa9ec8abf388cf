import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The header with the request id, in requests and responses. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** The ids of requests. Each line of the log has the id of the request that caused it. */
export type RequestIds = {
  /** The id in the header of a request, so that it can be followed through several servers, or a new one. */
  of(request: Pick<IncomingMessage, 'headers'>): string;
  /** Runs code on behalf of a request. */
  run<T>(id: string, work: () => T): T;
  /** The id of the request on whose behalf code runs. */
  current(): string | undefined;
};

/** Creates the request ids, with an `AsyncLocalStorage`. */
export function createRequestIds(): RequestIds {
  const storage = new AsyncLocalStorage<string>();
  // `storage.run` leaves an empty async context behind, which promises that are created later would reference.
  const outside = AsyncLocalStorage.snapshot();

  return {
    of({ headers }) {
      const sent = headers[REQUEST_ID_HEADER];
      return typeof sent === 'string' && /^[\w.:/-]{1,128}$/.test(sent) ? sent : randomUUID();
    },
    run: (id, work) => outside(() => storage.run(id, work)),
    current: () => storage.getStore(),
  };
}
