import { useState } from 'react';
import type { AnyVariables, TypedDocumentNode } from 'urql';
import type { GatewayError } from './errors.ts';
import { type SentQuery, useFollow } from './hooks.ts';

/** The newest update of a subscription, as a panel shows it. */
export type Latest<Data> = {
  /** Also while a later update is an error, and while the first one of other variables is on its way. */
  readonly data: Data | undefined;
  /** The errors of the newest update. */
  readonly errors: readonly GatewayError[];
  /** True until there is data or an error. */
  readonly isLoading: boolean;
  /** True if the data is of other variables than those of now. */
  readonly isOutdated: boolean;
  readonly query: SentQuery;
};

type Update<Data> = {
  /** The variables, as text. */
  readonly key: string;
  readonly data: Data | undefined;
  readonly errors: readonly GatewayError[];
};

/**
 * Follows a subscription and shows its newest update: for what begins with the current value and is one object, such as an
 * order book or a quote. No query has to be sent before it.
 */
export function useLatest<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause = false }: { readonly pause?: boolean } = {},
): Latest<Data> {
  const key = JSON.stringify(variables);
  const [update, setUpdate] = useState<Update<Data>>();
  useFollow(document, variables, {
    pause,
    onUpdate: (data) => setUpdate({ key, data, errors: [] }),
    onError: (errors) =>
      setUpdate((before) => {
        // What the exchange would refuse has no older value that could stand for it.
        if (errors.some(({ code }) => code === 'TRADE_REFUSED')) return { key, data: undefined, errors };
        return { key: before?.data === undefined ? key : before.key, data: before?.data, errors };
      }),
  });
  const isOfNow = update?.key === key;
  return {
    data: update?.data,
    errors: update?.errors ?? [],
    isLoading: update === undefined || (update.data === undefined && !isOfNow),
    isOutdated: update?.data !== undefined && !isOfNow,
    query: { document: document as SentQuery['document'], variables },
  };
}
