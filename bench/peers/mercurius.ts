import { fastify } from 'fastify';
import { mercurius } from 'mercurius';
import { tellReady } from '../tell.ts';
import { resolvers, typeDefs } from './data.ts';

const app = fastify();
const wanted = process.argv.slice(3);
const jit = wanted.includes('jit') ? { jit: 1 } : {};
const websocket = wanted.includes('websocket') ? { subscription: { fullWsTransport: true } } : {};
app.register(mercurius, { schema: typeDefs, resolvers, ...jit, ...websocket });
tellReady(`${await app.listen({ host: '127.0.0.1', port: 0 })}/graphql`);
