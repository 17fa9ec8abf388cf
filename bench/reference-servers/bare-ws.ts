// The package `ws` alone: acknowledges, and sends the update that it got from the bench to all. No server on it can be faster.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { handleCall } from '../process-control.ts';
import { listen } from './listen.ts';

let update = '';
const server = createServer();
const sockets = new WebSocketServer({ server });

handleCall('send', (text: string) => {
  update = text;
});
handleCall('publish', () => {
  update = update.replace(/"observedAt":"[^"]+"/, `"observedAt":"${new Date().toISOString()}"`);
  const bytes = Buffer.from(update);
  for (const socket of sockets.clients) socket.send(bytes, { binary: false });
});
sockets.on('connection', (socket) => {
  socket.on('error', () => socket.terminate());
  socket.on('message', (text: Buffer) => {
    if (text.includes('"connection_init"')) socket.send('{"type":"connection_ack"}');
    else if (text.includes('"subscribe"')) socket.send(update);
  });
});
listen(server);
