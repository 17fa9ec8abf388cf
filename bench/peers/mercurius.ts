import { fastify } from 'fastify';
import { mercurius } from 'mercurius';
import { tellReady } from '../tell.ts';
import { resolvers, typeDefs } from './data.ts';

const app = fastify();
const jit = process.argv[3] === 'jit' ? { jit: 1 } : {};
app.register(mercurius, { schema: typeDefs, resolvers, ...jit });
tellReady(`${await app.listen({ host: '127.0.0.1', port: 0 })}/graphql`);
