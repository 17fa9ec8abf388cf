import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { currentParameters, IN_PLACE } from '../../../app/url-parameters.ts';
import type { Market } from '../market.ts';
import { isSameState, readSwapState, type SwapState, writeSwapState } from './swap-state.ts';

/** While somebody types, the URL and the quote wait for so long. */
const TYPING_MS = 250;

/** The form: what is in the URL, and what is being changed. */
type SwapForm = {
  /** What the quote is for. */
  readonly committed: SwapState;
  /** What the fields show. */
  readonly shown: SwapState;
  readonly isTyping: boolean;
  type(exact: SwapState['exact'], amount: string): void;
  /** Changes the rest of the form at once. */
  change(changes: Partial<SwapState>): void;
};

/** The state of the form is in the URL, so that a swap can be shared. */
export function useSwapForm(market: Market): SwapForm {
  const [parameters, setParameters] = useSearchParams();
  const committed = readSwapState(parameters, market);
  const [draft, setDraft] = useState<Partial<SwapState>>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const shown = { ...committed, ...draft };
  // The URL changes a moment after it is set. Until then, the old value would overwrite what is typed, and move the caret.
  if (draft !== undefined && isSameState(shown, committed)) setDraft(undefined);

  function commit(changes: Partial<SwapState>): void {
    clearTimeout(timer.current);
    setDraft(changes);
    const current = currentParameters();
    setParameters(writeSwapState(current, { ...readSwapState(current, market), ...changes }, market), IN_PLACE);
  }

  return {
    committed,
    shown,
    isTyping: draft !== undefined,
    type(exact, amount) {
      const typed = { ...draft, exact, amount };
      setDraft(typed);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => commit(typed), TYPING_MS);
    },
    change: (changes) => commit({ ...draft, ...changes }),
  };
}
