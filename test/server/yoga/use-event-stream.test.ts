import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSchema, createYoga } from 'graphql-yoga';
import { expect, onTestFinished, test } from 'vitest';
import { useEventStream } from '../../../src/server/yoga/use-event-stream.ts';
import { serveGatewayForTest } from '../../support/served-gateway.ts';

const HEAD = 'subscription{head{beaconHeight}}';

/** What is read of a stream until its text matches. */
async function readUntil({ body }: Response, until: RegExp): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (until.test(text)) break;
  }
  return text;
}

test('a reader that waits for an event hears something within each keep-alive period', async () => {
  const { url, sandbox } = await serveGatewayForTest({ config: { keepAliveMs: 100 } });
  const response = await fetch(`${url}?query=${HEAD}`, { headers: { accept: 'text/event-stream' } });
  const names = ['content-type', 'cache-control', 'connection'];
  expect([response.status, ...names.map((name) => response.headers.get(name))]).toEqual([
    200,
    'text/event-stream',
    'no-cache',
    'keep-alive',
  ]);
  const event = `event: next\ndata: {"data":{"head":{"beaconHeight":${sandbox.chain.tip.height}}}}\n\n`;
  expect(await readUntil(response, /\n\n:\n\n:\n\n$/)).toBe(`:\n\n${event}:\n\n:\n\n`);
});

test('a stream whose update cannot be written is broken off, and its reason is told to the log', async () => {
  const schema = createSchema({
    typeDefs: 'scalar Any type Query { none: Any } type Subscription { odd: Any }',
    resolvers: {
      Subscription: {
        odd: {
          async *subscribe() {
            yield { odd: 'written' };
            yield { odd: 1n };
          },
        },
      },
    },
  });
  const told: unknown[] = [];
  const plugins = [useEventStream({ keepAliveMs: 60_000, internal: (error) => told.push(error) })];
  const server = createServer(createYoga({ schema, plugins, logging: false })).listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');

  const { port } = server.address() as AddressInfo;
  const headers = { accept: 'text/event-stream' };
  const response = await fetch(`http://127.0.0.1:${port}/graphql?query=subscription{odd}`, { headers });
  await expect(readUntil(response, /complete/)).rejects.toThrow('terminated');
  expect(told).toEqual([new TypeError('Do not know how to serialize a BigInt')]);
});
