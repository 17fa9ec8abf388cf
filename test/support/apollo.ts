import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  HttpLink,
  InMemoryCache,
  type ObservableQuery,
} from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { filter, firstValueFrom, map, ReplaySubject } from 'rxjs';
import { expect, onTestFinished } from 'vitest';
import type { ServedGateway } from './served-gateway.ts';

/** What differs from the client that the README shows. */
export type ApolloOptions = {
  /** Takes queries in place of the link over HTTP. */
  readonly http?: ApolloLink;
  /** When the websocket is tried again. */
  readonly retryWait?: () => Promise<void>;
  /** The payload of `connection_init`. */
  readonly connectionParams?: () => Record<string, unknown>;
};

/** An Apollo Client of that gateway, as the README shows it; it goes with the test. */
export function connectApollo(
  { url, webSocketUrl }: Pick<ServedGateway, 'url' | 'webSocketUrl'>,
  { http = new HttpLink({ uri: url }), ...socketOptions }: ApolloOptions = {},
): ApolloClient {
  const sockets = createClient({ url: webSocketUrl, ...socketOptions });
  const client = new ApolloClient({
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(sockets),
      http,
    ),
    cache: new InMemoryCache({
      typePolicies: {
        Query: { fields: { poolPairs: relayStylePagination(['filter', 'orderBy', 'at']) } },
        Service: { keyFields: [] },
      },
    }),
    incrementalHandler: new Defer20220824Handler(),
  });
  onTestFinished(async () => {
    client.stop();
    await sockets.dispose();
  });
  return client;
}

/** Watches a query until the test ends. @returns how to wait for what it shows, whole, and as it is wanted */
export function watch<Data>(query: ObservableQuery<Data>): (isWanted: (data: Data) => boolean) => Promise<Data> {
  const shown = new ReplaySubject<ObservableQuery.Result<Data>>(1);
  const subscription = query.subscribe(shown);
  onTestFinished(() => subscription.unsubscribe());
  const whole = shown.pipe(
    filter(({ dataState }) => dataState === 'complete'),
    map(({ data }) => data as Data),
  );
  return (isWanted) => firstValueFrom(whole.pipe(filter(isWanted)));
}

/** The codes of the errors that a client throws. */
export async function codesThrown(answer: Promise<unknown>): Promise<unknown[]> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CombinedGraphQLErrors);
  return (error as CombinedGraphQLErrors).errors.map(({ extensions }) => extensions?.['code']);
}
