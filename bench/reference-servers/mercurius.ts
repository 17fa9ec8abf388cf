import { fastify } from 'fastify';
import { mercurius } from 'mercurius';
import { reportReady } from '../process-control.ts';
import { resolvers, typeDefs } from './data.ts';

const app = fastify();
const options = process.argv.slice(3);
const jit = options.includes('jit') ? { jit: 1 } : {};
const websocket = options.includes('websocket') ? { subscription: { fullWsTransport: true } } : {};
app.register(mercurius, { schema: typeDefs, resolvers, ...jit, ...websocket });
reportReady(`${await app.listen({ host: '127.0.0.1', port: 0 })}/graphql`);
