import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { createTemporaryFolder } from './temporary-folders.ts';

/** A redis-server that stores nothing on disk. */
export type RedisProcess = { readonly url: string; [Symbol.asyncDispose](): Promise<void> };

/** Starts redis-server, which must be installed, on a free port. */
export async function startRedis(): Promise<RedisProcess> {
  const port = await freePort();
  const options = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: createTemporaryFolder() };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  process.once('exit', () => child.kill('SIGKILL'));
  for await (const line of createInterface(child.stdout)) if (line.includes('Ready to accept connections')) break;
  child.stdout.resume();
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
