import type { TokenList } from '../domain/token.ts';
import type { Head } from '../live/chain/head.ts';
import type { TokenSource } from '../live/tokens.ts';

/** Two heads of which a subscriber received the second one next. */
export type HeadStep = {
  readonly previous: Head;
  readonly head: Head;
  /** The tokens with which both are compared, also after a token has changed. */
  readonly tokens: TokenList;
};

/** Steps between heads. Subscribers that took the same step share the object, and with it their update. */
export type HeadSteps = { between(previous: Head, head: Head): HeadStep };

/** Creates the steps. Each is dropped together with its heads. */
export function createHeadSteps(tokens: Pick<TokenSource, 'current'>): HeadSteps {
  const steps = new WeakMap<Head, WeakMap<Head, HeadStep>>();

  return {
    between(previous, head) {
      const to = steps.get(head) ?? new WeakMap<Head, HeadStep>();
      steps.set(head, to);
      const step = to.get(previous) ?? { previous, head, tokens: tokens.current() };
      to.set(previous, step);
      return step;
    },
  };
}
