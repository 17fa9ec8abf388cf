import type { DataVersion } from './data-version.ts';
import type { EncodedResponse } from './encoded-response.ts';

/** Answers that are being made, for everyone who asks the same meanwhile. */
export type RequestCoalescing = {
  /**
   * The answer to that text that is under way in that generation; `undefined` where there is none.
   */
  inFlight(text: string, generation: DataVersion): Promise<EncodedResponse> | undefined;
  /** Lets others share an answer until it is finished. */
  share(text: string, generation: DataVersion, answer: Promise<EncodedResponse>): void;
};

type UnderWay = { readonly generation: DataVersion; readonly answer: Promise<EncodedResponse> };

/** Makes what shares answers of one media type, in which also errors have their status. */
export function createRequestCoalescing(): RequestCoalescing {
  const underWay = new Map<string, UnderWay>();

  return {
    inFlight(text, generation) {
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
