import type { ReactNode } from 'react';
import type { GatewayError } from '../client/errors.ts';
import type { Answer } from '../client/hooks.ts';
import { ErrorState } from './error-state.tsx';
import { Skeleton } from './skeleton.tsx';

type AnsweredProps<Data, Part> = {
  readonly answer: Answer<Data>;
  /** What the panel shows of the data. Undefined and null mean that the gateway did not send it. */
  readonly pick: (data: Data) => Part | null | undefined;
  /** The path of that in the document, such as `['pair', 'orderBook']`: errors of other fields are not of this panel. */
  readonly at?: readonly string[];
  /** As high as the content. */
  readonly skeleton?: ReactNode;
  /** Shown if there is nothing, without an error. */
  readonly empty: ReactNode;
  readonly children: (part: Part) => ReactNode;
};

/** The content of a panel in each of its states: loading, there, empty, failed. Data that is there stays while a retry fails. */
export function Answered<Data, Part>({ answer, pick, at = [], skeleton, empty, children }: AnsweredProps<Data, Part>) {
  const { data, errors, isLoading, retry } = answer;
  if (isLoading) return skeleton ?? <Skeleton />;
  const part = data == null ? undefined : pick(data);
  if (part != null && !(Array.isArray(part) && part.length === 0)) return children(part);
  const ownErrors = errorsAt(errors, at);
  return ownErrors.length > 0 ? <ErrorState errors={ownErrors} retry={retry} /> : empty;
}

/** The errors of a field, of what is in it, and of what it is in. */
export function errorsAt(errors: readonly GatewayError[], at: readonly string[]): readonly GatewayError[] {
  return errors.filter(({ path }) => path.every((name, depth) => depth >= at.length || at[depth] === name));
}
