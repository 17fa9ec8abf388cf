import { createClient } from 'graphql-ws';
import {
  type ConcreteRequest,
  createOperationDescriptor,
  type Direction,
  Environment,
  fetchQuery,
  getPaginationMetadata,
  getPaginationVariables,
  getRefetchMetadata,
  getSingularSelector,
  getValueAtPath,
  Network,
  Observable,
  type ReaderFragment,
  RecordSource,
  requestSubscription,
  type SingularReaderSelector,
  Store,
  type Variables,
} from 'relay-runtime';
import { onTestFinished } from 'vitest';
import { evaluateSample } from '../../support/doc-pages.ts';
import { endWithTest } from '../../support/websocket.ts';

/** Data in which Relay hides the data of fragments. */
// biome-ignore lint/suspicious/noExplicitAny: what a document answers is asserted, not typed
export type Masked = any;

/** Relay without React: each method does what the hook does that it names. */
export type RelayClient = {
  /** `useLazyLoadQuery`. */
  load(query: ConcreteRequest, variables?: Variables): Promise<Masked>;
  /** `useFragment`. */
  read(fragment: ReaderFragment, reference: Masked): Masked;
  /** `useFragment`, until its component shows what is wanted. */
  untilShown(fragment: ReaderFragment, reference: Masked, isWanted: (data: Masked) => boolean): Promise<Masked>;
  /** `refetch` of `useRefetchableFragment`, for a fragment of a node. */
  refetch(fragment: ReaderFragment, reference: Masked): Promise<void>;
  /** `loadNext` and `loadPrevious` of `usePaginationFragment`. */
  loadPage(fragment: ReaderFragment, reference: Masked, direction: Direction, count: number): Promise<void>;
  /** `useSubscription`. */
  subscribe(subscription: ConcreteRequest, variables: Variables, onError: (error: Error) => void): void;
};

/** Creates a client with the environment that docs/clients.md shows. It ends with the test. */
export function createRelayClient(url: string): RelayClient {
  const environment = createEnvironment(new URL(url).host);

  const selectorOf = (fragment: ReaderFragment, reference: Masked) =>
    getSingularSelector(fragment, reference) as SingularReaderSelector;
  const read: RelayClient['read'] = (fragment, reference) => environment.lookup(selectorOf(fragment, reference)).data;
  const fetch = async (query: ConcreteRequest, variables: Variables) =>
    fetchQuery<Masked>(environment, query, variables).toPromise();

  return {
    read,
    async load(query, variables = {}) {
      environment.retain(createOperationDescriptor(query, variables));
      return fetch(query, variables);
    },
    untilShown(fragment, reference, isWanted) {
      const { promise, resolve } = Promise.withResolvers();
      const snapshot = environment.lookup(selectorOf(fragment, reference));
      const show = (data: Masked) => {
        if (isWanted(data)) resolve(data);
      };
      show(snapshot.data);
      const { dispose } = environment.subscribe(snapshot, ({ data }) => show(data));
      return promise.finally(dispose);
    },
    async refetch(fragment, reference) {
      const { refetchableRequest, identifierInfo } = getRefetchMetadata(fragment, 'refetch');
      const { owner } = selectorOf(fragment, reference);
      const { identifierField = '', identifierQueryVariableName = '' } = identifierInfo ?? {};
      const id = read(fragment, reference)[identifierField];
      await fetch(refetchableRequest, { ...owner.variables, [identifierQueryVariableName]: id });
    },
    async loadPage(fragment, reference, direction, count) {
      const metadata = getPaginationMetadata(fragment, 'loadPage');
      const { owner, variables } = selectorOf(fragment, reference);
      const data = read(fragment, reference);
      const { pageInfo } = getValueAtPath(data, metadata.connectionPathInFragmentData) as Masked;
      await fetch(metadata.paginationRequest, {
        ...getPaginationVariables(
          direction,
          count,
          direction === 'forward' ? pageInfo.endCursor : pageInfo.startCursor,
          { ...owner.variables, ...variables },
          {},
          metadata.paginationMetadata,
        ),
        ...(metadata.identifierField && { id: data[metadata.identifierField] }),
      });
    },
    subscribe(subscription, variables, onError) {
      const { dispose } = requestSubscription(environment, { subscription, variables, onError });
      onTestFinished(dispose);
    },
  };
}

function createEnvironment(host: string): Environment {
  const createDisposedClient: typeof createClient = (options) => {
    const client = createClient(options);
    endWithTest(client);
    return client;
  };
  const imports = { createClient: createDisposedClient, Environment, Network, Observable, RecordSource, Store };
  return evaluateSample('docs/clients.md', 'Relay', 'environment', imports, host);
}
