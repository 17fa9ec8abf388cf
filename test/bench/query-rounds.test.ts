import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { notesOf, type RoundOptions, runRepeated } from '../../bench/query-rounds.ts';

const SECONDS = 2;

/** A round of a gateway. It has the new block when so many loads of the round have ended, if the block is created before their end. */
async function createRound({ loadsUntilHeight }: { readonly loadsUntilHeight: number }) {
  let height = 7;
  let loads = 0;
  let blockAfterMs = Number.POSITIVE_INFINITY;
  const http = createServer((_, response) => response.end(JSON.stringify({ data: { beaconHeight: height } })));
  onTestFinished(() => void http.close());
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const server = { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, call: async () => 0 };
  const sandbox = {
    async call(name: string, argument: number) {
      if (name === 'advance after') blockAfterMs = argument;
      return height;
    },
  };
  const load = {
    async queries(_: unknown, { seconds }: { readonly seconds: number }) {
      loads += 1;
      if (blockAfterMs < loads * seconds * 1_000 && loads === loadsUntilHeight) height += 1;
      return { responses: 100 * loads, perSecond: (100 * loads) / seconds, busy: loads / 10 };
    },
  };
  const testbed = { sandbox, gateways: new Map([['gateway', server]]) };
  return { server, testbed, load, transport: 'http', requests: [], seconds: SECONDS } as unknown as RoundOptions;
}

test('a gateway gets a new height within a round with repeated requests', async () => {
  const round = await runRepeated(await createRound({ loadsUntilHeight: 1 }));
  expect(round).toEqual({ perSecond: 50, cpuMicros: 0, busy: 0.1, heights: 1 });
  expect(notesOf([round], false).at(-1)).toBe('The gateway had 1 to 1 new heights in a round.');
});

test('a round goes on until the gateway has the new height, and all of it counts', async () => {
  const round = await runRepeated(await createRound({ loadsUntilHeight: 3 }));
  expect(round).toEqual({ perSecond: 600 / (3 * SECONDS), cpuMicros: 0, busy: expect.closeTo(0.2), heights: 1 });
});

test('a round without a new height is an error, except in a quick run', async () => {
  const options = await createRound({ loadsUntilHeight: Number.POSITIVE_INFINITY });
  const rounds = [await runRepeated(await createRound({ loadsUntilHeight: 1 })), await runRepeated(options)];
  expect(() => notesOf(rounds, false)).toThrow('a round ended before the gateway had a new height');
  expect(notesOf(rounds, true).at(-1)).toBe('The gateway had 0 to 1 new heights in a round.');
});

test('the rounds of reference servers have no heights', async () => {
  const { testbed, ...options } = await createRound({ loadsUntilHeight: 1 });
  const reference = await runRepeated({ ...options, testbed: { ...testbed, gateways: new Map() } });
  expect(reference.heights).toBeUndefined();
  const gateway = { ...reference, heights: 1 };
  expect(notesOf([reference, gateway], false).at(-1)).toBe('The gateway had 1 to 1 new heights in a round.');
});
