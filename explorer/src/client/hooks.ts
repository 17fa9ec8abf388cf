import { useEffect, useEffectEvent, useMemo, useState, useSyncExternalStore } from 'react';
import { type AnyVariables, createRequest, type TypedDocumentNode, useClient, useQuery } from 'urql';
import type { ConnectionState } from './connection.ts';
import { type GatewayError, readErrors } from './errors.ts';
import { useGateway } from './gateway.tsx';
import type { Head } from './head-tracker.ts';
import { useIsVisible } from './visibility.ts';

/** A document with the variables that it was sent with, for "Show the query". */
export type SentQuery = {
  readonly document: TypedDocumentNode<unknown, AnyVariables>;
  readonly variables: AnyVariables;
};

/** A query with its variables. Two of them can have the same data and different variables. */
type Request<Data> = {
  readonly document: TypedDocumentNode<Data, AnyVariables>;
  readonly variables: AnyVariables;
};

/** Puts a query and its variables together. */
export function requestOf<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Request<Data> {
  return { document: document as TypedDocumentNode<Data, AnyVariables>, variables };
}

/** The answer to a query, as a panel shows it. */
export type Answer<Data> = {
  /** What the cache has: it changes with each update of a subscription that brings one of its objects. */
  readonly data: Data | undefined;
  /** All errors except that of `beaconHeight`. A field that failed is null. */
  readonly errors: readonly GatewayError[];
  /** True until there is data or an error. */
  readonly isLoading: boolean;
  /** True if data and errors are of other variables than those of now, whose answer is on its way. */
  readonly isOutdated: boolean;
  /** The beacon height of the newest response to this query; objects that a subscription updates are newer. */
  readonly height: number | undefined;
  readonly query: SentQuery;
  /** Sends the query again. */
  retry(): void;
};

type QueryOptions = {
  /**
   * What no subscription brings is requested again: at each new height, or after so many milliseconds. Not while nobody looks
   * at the page, without `whileHidden`.
   */
  readonly refresh?: 'each-height' | number;
  /** Whether it is requested again after so many milliseconds in a tab in the background too. Browsers do that less often. */
  readonly whileHidden?: boolean;
  /** True while the answer is not needed. */
  readonly pause?: boolean;
};

/** Queries the gateway. What is in the cache is there at once, and is requested again. It stays if that fails. */
export function useGatewayQuery<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { refresh, whileHidden = false, pause = false }: QueryOptions = {},
): Answer<Data> {
  const { session } = useGateway();
  const isVisible = useIsVisible();
  const client = useClient();
  const [result] = useQuery({ query: document, variables, pause });
  const { operation } = result;
  const height = operation && session.heights.get(operation.key);
  // `useQuery` would end the query and begin it again, and so lose its data.
  const retry = () => {
    const request = createRequest(document, variables);
    client.reexecuteOperation(client.createRequestOperation('query', request, { requestPolicy: 'network-only' }));
  };
  const requestAgain = useEffectEvent(retry);

  // An answer from below the newest height is requested again by the client. So each height is looked at once.
  const headHeight = useHead()?.beaconHeight;
  const requestAgainIfBehind = useEffectEvent((newest: number) => {
    if (!result.fetching && !result.stale && (height ?? 0) < newest) retry();
  });
  const follows = refresh === 'each-height' && !pause && isVisible;
  useEffect(() => {
    if (follows && headHeight !== undefined) requestAgainIfBehind(headHeight);
  }, [follows, headHeight]);

  const everyMs = typeof refresh === 'number' ? refresh : undefined;
  const repeats = everyMs !== undefined && !pause && (isVisible || whileHidden);
  useEffect(() => {
    if (!repeats) return;
    const timer = setInterval(requestAgain, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, repeats]);

  const errors = useMemo(
    () => readErrors(result.error).filter(({ path }) => path.length !== 1 || path[0] !== 'beaconHeight'),
    [result.error],
  );
  return {
    data: result.data,
    errors,
    isLoading: result.data === undefined && result.error === undefined,
    isOutdated: operation !== undefined && operation.key !== createRequest(document, variables).key,
    height,
    query: { document: document as SentQuery['document'], variables },
    retry,
  };
}

/**
 * Queries a page of `size` entries. Where the operator allows smaller pages only, the query is sent again with null, the default of
 * the gateway: it loads until that has an answer.
 */
export function usePageQuery<Data, Variables extends { readonly size?: number | null }>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  options?: QueryOptions,
): Answer<Data> {
  const [isTooLarge, setIsTooLarge] = useState(false);
  const sent = useMemo(() => (isTooLarge ? { ...variables, size: null } : variables), [variables, isTooLarge]);
  const answer = useGatewayQuery(document, sent, options);
  const isRefused = answer.errors.some(({ code }) => code === 'BAD_USER_INPUT');
  if (isRefused && !isTooLarge) setIsTooLarge(true);
  return isRefused && answer.isOutdated ? { ...answer, data: undefined, errors: [], isLoading: true } : answer;
}

type FollowOptions<Data> = {
  /** True while the updates are not needed, as of something that is not on the screen. */
  readonly pause?: boolean;
  /** Gets each update, for what the cache does not hold, such as candles. */
  readonly onUpdate?: (data: Data) => void;
  readonly onError?: (errors: readonly GatewayError[]) => void;
};

/**
 * Follows a subscription while the component is there. Its objects go to the cache, from where every panel that shows them
 * is updated: the component itself is not rendered again. Equal subscriptions of several components are one for the gateway.
 */
export function useFollow<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause = false, onUpdate, onError }: FollowOptions<Data> = {},
): void {
  const client = useClient();
  const update = useEffectEvent((data: Data) => onUpdate?.(data));
  const fail = useEffectEvent((errors: readonly GatewayError[]) => onError?.(errors));
  const key = JSON.stringify(variables);

  useEffect(() => {
    if (pause) return;
    const sent = JSON.parse(key) as Variables;
    const { unsubscribe } = client.subscription(document, sent).subscribe(({ data, error }) => {
      if (data != null) update(data);
      if (error !== undefined) fail(readErrors(error));
    });
    return unsubscribe;
  }, [client, document, key, pause]);
}

/** The newest head that the page knows. */
export function useHead(): Head | undefined {
  const { newest } = useGateway().session.tracker;
  return useSyncExternalStore(newest.subscribe, newest.get);
}

/** The state of the connection. */
export function useConnectionState(): ConnectionState {
  const { state } = useGateway().connection;
  return useSyncExternalStore(state.subscribe, state.get);
}
