import { isSettledWithin } from './patience.ts';

/** Asks for something; the signal says that it is no longer wanted. */
export type Ask<T> = (signal: AbortSignal) => Promise<T>;

/** How long several are given for one thing. */
export type FirstAnswerOptions = {
  /** How long each is waited for before the next is asked as well. */
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
 * @throws the failures of all of them, in order, as an AggregateError
 */
export async function firstAnswer<T>(asks: readonly Ask<T>[], options: FirstAnswerOptions): Promise<T> {
  const { shareMs, timeoutMs, tooLate } = options;
  const over = new AbortController();
  const deadline = setTimeout(() => over.abort(tooLate()), timeoutMs);
  const asked: Promise<T>[] = [];
  try {
    for (const ask of asks) {
      asked.push(ask(over.signal));
      const isLast = asked.length === asks.length;
      if (isLast || (await isAnsweredWithin(shareMs, asked))) break;
    }
    return await Promise.any(asked);
  } finally {
    clearTimeout(deadline);
    over.abort(new Error('another was quicker'));
  }
}

/** Whether one of them has answered; known as soon as one has, as soon as all have failed, or when the time is over. */
async function isAnsweredWithin(ms: number, asked: readonly Promise<unknown>[]): Promise<boolean> {
  let isAnswered = false;
  const answer = Promise.any(asked).then(() => {
    isAnswered = true;
  });
  await isSettledWithin(ms, answer);
  return isAnswered;
}
