import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The header that carries a request's id, in and out. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Knows which request the code that runs belongs to, so that a line of the log can name it. */
export type RequestIds = {
  /** The id that a request brings, so that it can be followed through several servers, or a new one. */
  of(request: Pick<IncomingMessage, 'headers'>): string;
  /** Runs something for a request of that id. */
  run<T>(id: string, work: () => T): T;
  current(): string | undefined;
};

/** Makes request ids known to whatever is done for a request. */
export function createRequestIds(): RequestIds {
  const storage = new AsyncLocalStorage<string>();
  const newId = createIds();
  // A run that ends leaves an empty context behind, which all that begins to wait after it would hold on to.
  const outside = AsyncLocalStorage.snapshot();

  return {
    of({ headers }) {
      const given = headers[REQUEST_ID_HEADER];
      return typeof given === 'string' && /^[\w.:/-]{1,128}$/.test(given) ? given : newId();
    },
    run: (id, work) => outside(() => storage.run(id, work)),
    current: () => storage.getStore(),
  };
}

/** Makes UUIDs, with chance for a few hundred at a time: each by itself takes a share of what giving an answer again does. */
function createIds(): () => string {
  let prefix = '';
  let next = LAST_DIGITS.length;

  return () => {
    if (next === LAST_DIGITS.length) {
      prefix = randomUUID().slice(0, -2);
      next = 0;
    }
    const id = prefix + LAST_DIGITS[next];
    next += 1;
    return id;
  };
}

const LAST_DIGITS = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));
