// Yoga with its defaults, with graphql-ws as in its documentation.
import { setMaxListeners } from 'node:events';
import { createServer } from 'node:http';
import { useServer } from 'graphql-ws/use/ws';
import { createPubSub, createSchema, createYoga, type YogaServerInstance } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import { handleCall } from '../process-control.ts';
import { priceUpdate, resolvers, typeDefs } from './data.ts';
import { listen } from './listen.ts';

type Keys = Parameters<typeof priceUpdate>[0];
type Enveloped = ReturnType<YogaServerInstance<object, object>['getEnveloped']>;
type Args = { rootValue: Pick<Enveloped, 'execute' | 'subscribe'> };

// Node warns of a leak when there are more than ten listeners.
setMaxListeners(0);

const published = createPubSub<{ height: [observedAt: string] }>();
let lastObservedAt = new Date().toISOString();
handleCall('publish', () => {
  lastObservedAt = new Date().toISOString();
  published.publish('height', lastObservedAt);
});

async function* heights(): AsyncGenerator<string> {
  const next = published.subscribe('height');
  yield lastObservedAt;
  yield* next;
}

const prices = {
  subscribe: () => heights(),
  resolve: (observedAt: string, { poolPairs }: { poolPairs: Keys }) => priceUpdate(poolPairs, observedAt),
};
const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers: { ...resolvers, Subscription: { prices } } }) });
const server = createServer(yoga);

useServer(
  {
    execute: (args) => (args as unknown as Args).rootValue.execute(args),
    subscribe: (args) => (args as unknown as Args).rootValue.subscribe(args),
    async onSubscribe({ extra }, _id, params) {
      const enveloped = yoga.getEnveloped({ ...extra, params });
      const args = {
        schema: enveloped.schema,
        operationName: params.operationName,
        document: enveloped.parse(params.query),
        variableValues: params.variables,
        contextValue: await enveloped.contextFactory(),
        rootValue: { execute: enveloped.execute, subscribe: enveloped.subscribe },
      };
      const errors = enveloped.validate(args.schema, args.document);
      return errors.length > 0 ? [...errors] : args;
    },
  },
  new WebSocketServer({ server, path: yoga.graphqlEndpoint }),
);
listen(server);
