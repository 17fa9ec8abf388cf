import { once } from 'node:events';
import { ask } from '../ask.ts';
import { beginFinding, type Finding } from '../finding.ts';
import { HOSTILE, type HostileRequest } from '../hostile-requests.ts';
import { withheldMs } from '../machine.ts';
import type { Row, Stage } from '../row.ts';
import { startWorld, type World } from '../servers.ts';
import type { LoopDelay } from '../tell.ts';

/** What one hostile request costs everybody else: how long it holds the event loop, and how much memory it adds. */
export const hostile: Row = { name: 'hostile', run };

const MAX_HELD_MS = 50;
const MAX_ADDED_MB = 50;

/** Compiled code is part of a gateway that has run for a while. */
const WARM_UP = 300;

async function run(stage: Stage): Promise<readonly Finding[]> {
  const sizes = stage.quick ? [50] : [50, 1_000];
  const rounds = stage.quick ? 1 : 5;
  const head = { better: 'less', sizeUnit: 'pools', sizes, reference: undefined } as const;
  const names = Object.keys(HOSTILE);
  const held = beginFinding({
    ...head,
    title: 'One hostile request: how long it holds the event loop',
    about: `The longest time at once, by libuv's clock each millisecond. Each request is sent ${rounds} times to a gateway of its own that has answered ${WARM_UP} ordinary queries.`,
    unit: 'milliseconds',
    reaches: names.map((subject) => ({ subject, bound: 'at most', value: MAX_HELD_MS })),
  });
  const added = beginFinding({
    ...head,
    title: 'One hostile request: memory',
    about: 'By how much the resident memory of the process at its highest is more than before the requests.',
    unit: 'MB',
    reaches: names.map((subject) => ({ subject, bound: 'at most', value: MAX_ADDED_MB })),
  });
  for (const pools of sizes) {
    for (const [name, request] of Object.entries(HOSTILE)) {
      await using world = await startWorld({ pools }, { MAX_OPERATIONS_PER_REQUEST: '10' });
      for (let n = 0; n < WARM_UP; n++)
        await ask(world.gateway.url, {
          query: `{ poolPairs(first: 20) { nodes { price } } a${n % 40}: beaconHeight }`,
        });
      const before = await world.gateway.ask<number>('peak bytes');
      for (let round = 0; round < rounds; round++) {
        const withheld = withheldMs('server');
        await world.gateway.ask('watch loop');
        await send(world, request);
        const { maxMs } = await world.gateway.ask<LoopDelay>('loop delay');
        held.add(name, pools, Math.max(0, maxMs - (withheldMs('server') - withheld)));
      }
      added.add(name, pools, ((await world.gateway.ask<number>('peak bytes')) - before) / 1e6);
    }
    stage.tell(`${held.title}, ${pools} pools: done`);
  }
  return [held, added];
}

/** Sends a request, and waits until it is answered. */
async function send({ gateway: { url }, sandbox }: World, request: HostileRequest): Promise<void> {
  if ('post' in request) {
    const headers = { 'content-type': 'application/json', accept: request.accept ?? 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: request.post });
    await response.arrayBuffer();
    return;
  }
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  const closed = once(socket, 'close');
  socket.send(`{"type":"subscribe","id":"1","payload":${request.subscribe}}`);
  for (let update = 0; update < request.updates; update++) {
    // What is no operation closes the socket.
    await Promise.race([once(socket, 'message'), closed]);
    if (update + 1 < request.updates) await sandbox.ask('advance');
  }
  socket.close();
}
