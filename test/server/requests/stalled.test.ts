import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createStallCheck } from '../../../src/server/requests/stalled.ts';
import { hasOpenssl, makeCertificate } from '../../support/certificate.ts';

const MB = 1_000_000;

/** A connection of the client and its socket at the server. */
async function openConnection(isTls: boolean): Promise<{ client: Socket; socket: Socket }> {
  const { cert, key } = isTls ? makeCertificate('IP:127.0.0.1') : { cert: undefined, key: undefined };
  const server = isTls ? createTlsServer({ cert, key }) : createTcpServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const opened = once(server, isTls ? 'secureConnection' : 'connection');
  const client = isTls ? connectTls({ port, ca: cert, host: '127.0.0.1' }) : connectTcp(port, '127.0.0.1');
  const [socket] = (await opened) as [Socket];
  for (const each of [client, socket]) each.on('error', () => {});
  onTestFinished(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return { client, socket };
}

/** Reads about this many bytes. */
async function read(client: Socket, bytes: number): Promise<void> {
  let left = bytes;
  const take = (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) client.pause();
  };
  client.on('data', take).resume();
  await once(client, 'pause');
  client.off('data', take);
}

test.skipIf(!hasOpenssl).each([
  ['TCP', false],
  ['TLS', true],
])(
  'over %s, a large write of which the client reads a part is not stalled, and one that it does not read is',
  async (_, isTls) => {
    const { client, socket } = await openConnection(isTls);
    const isStalled = createStallCheck(() => socket);
    client.pause();
    socket.write(Buffer.alloc(60 * MB));
    for (let part = 0; part < 3; part += 1) {
      // The buffers of the operating system are full.
      await expect.poll(isStalled).toBe(true);
      await read(client, 15 * MB);
      expect(isStalled()).toBe(false);
    }
  },
);
