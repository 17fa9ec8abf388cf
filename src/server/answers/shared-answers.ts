import type { Answer } from './answer.ts';
import type { Generation } from './generation.ts';

/** Answers that are being made, for everyone who asks the same meanwhile. */
export type SharedAnswers = {
  /**
   * The answer to that text that is under way in that generation; `undefined` where there is none.
   */
  underWay(text: string, generation: Generation): Promise<Answer> | undefined;
  /** Lets others share an answer until it is finished. */
  share(text: string, generation: Generation, answer: Promise<Answer>): void;
};

type UnderWay = { readonly generation: Generation; readonly answer: Promise<Answer> };

/** Makes what shares answers of one media type, in which also errors have their status. */
export function createSharedAnswers(): SharedAnswers {
  const underWay = new Map<string, UnderWay>();

  return {
    underWay(text, generation) {
      const found = underWay.get(text);
      // One that was begun before the newest publication may tell what is no longer true.
      return found?.generation === generation ? found.answer : undefined;
    },
    share(text, generation, answer) {
      const mine = { generation, answer };
      underWay.set(text, mine);
      const end = () => underWay.get(text) === mine && underWay.delete(text);
      answer.then(end, end);
    },
  };
}
