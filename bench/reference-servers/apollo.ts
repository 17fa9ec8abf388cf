import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { reportReady } from '../process-control.ts';
import { resolvers, typeDefs } from './data.ts';

const server = new ApolloServer({ typeDefs, resolvers });
const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 } });
reportReady(new URL('/graphql', url).href);
