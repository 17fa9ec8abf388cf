import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The header that carries a request's id, in and out. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Knows which request the code that runs belongs to, so that a line of the log can name it. */
export type RequestIds = {
  /** Runs something for a request of that id. */
  run<T>(id: string, work: () => T): T;
  current(): string | undefined;
};

/** Makes request ids known to whatever is done for a request. */
export function createRequestIds(): RequestIds {
  const storage = new AsyncLocalStorage<string>();
  // A run that ends leaves an empty context behind, which all that begins to wait after it would hold on to.
  const outside = AsyncLocalStorage.snapshot();
  return { run: (id, work) => outside(() => storage.run(id, work)), current: () => storage.getStore() };
}

/** The id that a request brings, so that it can be followed through several servers, or a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && /^[\w.:/-]{1,128}$/.test(given) ? given : randomUUID();
}
