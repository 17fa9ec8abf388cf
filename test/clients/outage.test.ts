import { gql } from '@apollo/client';
import { cacheExchange, createClient as createUrql, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient as createSse } from 'graphql-sse';
import { createClient as createWs, type FormattedExecutionResult, type Sink } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { connectApollo } from '../support/apollo.ts';
import { type ServedGateway, serveGatewayForTest } from '../support/served-gateway.ts';
import { endWithTest } from '../support/websocket.ts';

const HEAD = 'subscription { head { beaconHeight } }';

type Data = { readonly head: { readonly beaconHeight: number } };
/** What a client shows of an update: the height, or the codes of its errors. */
type Show = (shown: unknown) => void;
type Result = {
  readonly data?: unknown;
  readonly errors?: readonly { readonly extensions?: Readonly<Record<string, unknown>> | undefined }[] | undefined;
};

const shownOf = ({ data, errors }: Result) =>
  errors?.map(({ extensions }) => extensions?.['code']) ?? (data as Data).head.beaconHeight;

/** Subscribes to the head as each client does, and shows what it gets. */
const CLIENTS: Readonly<Record<string, (gateway: ServedGateway, show: Show) => void>> = {
  'graphql-ws': ({ webSocketUrl }, show) => {
    const client = createWs({ url: webSocketUrl });
    endWithTest(client);
    const sink: Sink<FormattedExecutionResult> = {
      next: (result) => show(shownOf(result)),
      error: () => show('ended by an error'),
      complete: () => show('completed'),
    };
    client.subscribe({ query: HEAD }, sink as Sink);
  },
  'graphql-sse': ({ url }, show) => {
    const client = createSse({ url });
    onTestFinished(() => client.dispose());
    client.subscribe(
      { query: HEAD },
      {
        next: (result) => show(shownOf(result)),
        error: () => show('ended by an error'),
        complete: () => show('completed'),
      },
    );
  },
  'Apollo Client': (gateway, show) => {
    const subscription = connectApollo(gateway)
      .subscribe<Data>({ query: gql(HEAD) })
      .subscribe({
        next: ({ data, error }) =>
          show(error === undefined ? data?.head.beaconHeight : shownOf(error as unknown as Result)),
        error: () => show('ended by an error'),
        complete: () => show('completed'),
      });
    onTestFinished(() => subscription.unsubscribe());
  },
  'urql over a websocket': ({ url, webSocketUrl }, show) => {
    const sockets = createWs({ url: webSocketUrl });
    endWithTest(sockets);
    const overSockets = subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe: (sink) => ({
          unsubscribe: sockets.subscribe({ query, variables }, sink as Sink<FormattedExecutionResult>),
        }),
      }),
    });
    followInUrql(createUrql({ url, exchanges: [cacheExchange, fetchExchange, overSockets] }), show);
  },
  'urql over server-sent events': ({ url }, show) =>
    followInUrql(createUrql({ url, exchanges: [cacheExchange, fetchExchange], fetchSubscriptions: true }), show),
};

function followInUrql(client: ReturnType<typeof createUrql>, show: Show): void {
  const { unsubscribe } = client.subscription<Data>(HEAD, {}).subscribe(({ data, error }) => {
    // It keeps the last error beside the data that comes after it.
    show(shownOf(data == null ? { errors: error?.graphQLErrors } : { data }));
  });
  onTestFinished(unsubscribe);
}

test.each(Object.entries(CLIENTS))(
  '%s shows the error of an upstream that could not be read yet, and then the updates',
  async (_name, follow) => {
    const gateway = await serveGatewayForTest({ before: ({ node }) => node.stop() });
    const { height } = gateway.sandbox.chain.tip;
    const shown: unknown[] = [];
    follow(gateway, (each) => shown.push(each));
    await expect.poll(() => shown).toEqual([['UPSTREAM_UNREACHABLE']]);
    await gateway.sandbox.node.start();
    await expect.poll(() => shown).toEqual([['UPSTREAM_UNREACHABLE'], height]);
    gateway.sandbox.advance();
    await expect.poll(() => shown).toEqual([['UPSTREAM_UNREACHABLE'], height, height + 1]);
  },
);
