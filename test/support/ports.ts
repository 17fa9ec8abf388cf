import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those of outgoing connections, and of the sandboxes, which choose one all the time. `fetch` refuses 10080, and none above. */
const PORTS = { first: 10_081, end: 20_000 };

/** A port that nothing listens on, and that hardly anybody else is given: a server can stop and listen on it again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.end);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
