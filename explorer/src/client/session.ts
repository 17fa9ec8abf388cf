import { type Client, createClient, fetchExchange, subscriptionExchange } from '@urql/core';
import type { FormattedExecutionResult, Sink } from 'graphql-ws';
import { createCache } from './cache.ts';
import type { Connection } from './connection.ts';
import { createHeadTracker, type HeadTracker } from './head-tracker.ts';
import { type AnswerHeights, createHeightExchange } from './height-exchange.ts';
import { createRefetchExchange } from './refetch-exchange.ts';
import { resubscribing } from './resubscribing.ts';
import { resumingPayload } from './resuming.ts';
import type { ServerClock } from './server-clock.ts';

/** What the page knows of one chain. When the gateway shows another one, the page begins again with a new session. */
export type Session = {
  readonly id: number;
  readonly client: Client;
  /** A client without the cache, for lists of thousands of objects: writing and reading those there takes longer than loading them. */
  readonly listClient: Client;
  readonly tracker: HeadTracker;
  readonly heights: AnswerHeights;
  dispose(): void;
};

type SessionOptions = {
  readonly url: string;
  readonly connection: Pick<Connection, 'subscribe' | 'onRestored' | 'retryIfLost'>;
  readonly clock: ServerClock;
  readonly onOtherChain: () => void;
  /** Sends queries, in place of that of the browser. */
  readonly fetch?: typeof fetch;
};

let created = 0;

/** Creates the client of a session: queries over HTTP, subscriptions over the one connection, one cache for both. */
export function createSession({
  url,
  connection,
  clock,
  onOtherChain,
  fetch = globalThis.fetch,
}: SessionOptions): Session {
  const tracker = createHeadTracker();
  const refetching = createRefetchExchange(connection);
  const heightKeeping = createHeightExchange({ tracker, clock, onOtherChain });
  const subscriptions = subscriptionExchange({
    forwardSubscription: ({ query = '', variables }) => ({
      subscribe(sink) {
        const payload = resumingPayload(query, variables);
        const next: Sink<FormattedExecutionResult>['next'] = (result) => {
          payload.observe(result.data);
          sink.next(result as Parameters<typeof sink.next>[0]);
        };
        return { unsubscribe: resubscribing(connection.subscribe, payload.payload, { ...sink, next }) };
      },
    }),
  });

  const overHttp = {
    url,
    async fetch(...sent: Parameters<typeof fetch>) {
      const response = await fetch(...sent);
      if (response.ok) connection.retryIfLost();
      return response;
    },
    preferGetMethod: false,
    fetchOptions: { headers: { accept: 'application/graphql-response+json, application/json' } },
  } as const;
  const client = createClient({
    ...overHttp,
    // What is in the cache is shown at once. It may be as old as the last visit of the page.
    requestPolicy: 'cache-and-network',
    exchanges: [refetching.exchange, createCache(), heightKeeping.exchange, fetchExchange, subscriptions],
  });

  const listHeights = createHeightExchange({ tracker, clock, onOtherChain });
  const listClient = createClient({
    ...overHttp,
    requestPolicy: 'network-only',
    exchanges: [listHeights.exchange, fetchExchange],
  });

  created += 1;
  return { id: created, client, listClient, tracker, heights: heightKeeping.heights, dispose: refetching.dispose };
}
