import { createServer } from 'node:http';
import { listen } from '../../src/sandbox/http/listen.ts';

/** A port that nothing listens on, and that the system gives to nobody else: a server can stop and listen on it again. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  await new Promise((resolve) => server.close(resolve));
  return port;
}
