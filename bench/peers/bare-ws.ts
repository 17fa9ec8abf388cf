// The package `ws` alone: acknowledges, and sends each update that it was given to everyone. No server on it can be quicker.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { answerTo } from '../tell.ts';
import { listen } from './listen.ts';

let update = '';
const server = createServer();
const sockets = new WebSocketServer({ server });

answerTo('send', (text: string) => {
  update = text;
});
answerTo('publish', () => {
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
