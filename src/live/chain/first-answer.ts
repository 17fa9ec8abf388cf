import { isSettledWithin } from '../broadcast/wait-at-most.ts';

/** Asks for something; the signal says that it is no longer wanted. */
export type Ask<T> = (signal: AbortSignal) => Promise<T>;

/** How long several are given for one thing. */
export type FirstAnswerOptions = {
  /** How long those who were asked are waited for before the next is asked as well. */
  readonly shareMs: number;
  /** For all of them together. */
  readonly timeoutMs: number;
  /** What those fail with that have not answered by then. */
  readonly tooLate: () => Error;
};

/**
 * Asks one after another, and gives the first answer: the next is asked when those before it have failed, or when its turn
 * has come, without giving the others up. So one that hangs costs its share of the time, and one that is only slow is not
 * asked in vain.
 *
 * @param next who is asked next; `undefined` where there is nobody else, for now
 * @throws the failures of all of them, in order, as an AggregateError
 */
export async function firstAnswer<T>(
  next: () => Promise<Ask<T> | undefined>,
  { shareMs, timeoutMs, tooLate }: FirstAnswerOptions,
): Promise<T> {
  const over = new AbortController();
  const deadline = setTimeout(() => over.abort(tooLate()), timeoutMs);
  const asked: Promise<T>[] = [];
  try {
    for (;;) {
      const ask = await next();
      if (ask !== undefined) asked.push(ask(over.signal));
      const answer = Promise.any(asked);
      const isSettled = await isSettledWithin(shareMs, answer);
      if (isSettled && (ask === undefined || (await isFulfilled(answer)))) return await answer;
    }
  } finally {
    clearTimeout(deadline);
    over.abort(new Error('another was quicker'));
  }
}

function isFulfilled(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
