import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { SandboxHosts } from '../../../src/sandbox/sandbox.ts';
import { fixedSandbox } from '../support.ts';

type Instructions = readonly (readonly string[])[];

const SUBSCRIBE = {
  request: { jsonrpc: '1.0', method: 'subcribenewbeaconblock', params: [], id: 1 },
  subcription: '1',
  type: 0,
};

/** The instructions of the tip, in the response of a node. */
async function sent({ node, chain }: SandboxHosts, height = chain.tip.height): Promise<Instructions> {
  const body = JSON.stringify({ id: 1, jsonrpc: '1.0', method: 'retrievebeaconblockbyheight', params: [height] });
  const { Result } = await (await fetch(node.url, { method: 'POST', body })).json();
  return Result[0].Instructions;
}

/** Subscribes to blocks. @returns a function that makes a block, and returns the instructions that are pushed with it */
async function subscribed(sandbox: SandboxHosts): Promise<() => Promise<Instructions | undefined>> {
  const socket = new WebSocket(sandbox.pushUrl, { perMessageDeflate: false });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  socket.send(JSON.stringify(SUBSCRIBE));
  await expect.poll(sandbox.push.subscribers).toBe(1);
  return async () => {
    const frame = once(socket, 'message');
    sandbox.advance();
    const [data] = await frame;
    return JSON.parse(String(data)).Result.Result.Instructions;
  };
}

const accepted = (instructions: Instructions) => instructions.filter(([type, ok]) => type === '285' && ok === '1');
const isJson = (text = '') => {
  try {
    return Boolean(JSON.parse(text));
  } catch {
    return false;
  }
};

test('pushed blocks have the instructions of the call, with words in place of numbers and others among them', async () => {
  await using sandbox = await fixedSandbox({ exchange: 'v3', history: 5 });
  const next = await subscribed(sandbox);
  for (let block = 0; block < 3; block++) {
    const pushed = await next();
    expect(pushed).toEqual(await sent(sandbox));
    const types = new Set(pushed?.map(([type]) => type));
    expect([...types]).toEqual(expect.arrayContaining(['133', 'acceptblockrewardv3', 'stake', '293']));
  }
});

test('a node can damage one accepted trade of each block, in its responses and in its pushes', async () => {
  await using sandbox = await fixedSandbox({ exchange: 'v3', history: 5 });
  const next = await subscribed(sandbox);
  const whole = await sent(sandbox);
  const mend = sandbox.node.faults.set({ kind: 'damaged-trade' });
  const damaged = await sent(sandbox);
  expect(damaged.length).toBe(whole.length);
  expect(damaged.filter((instruction, i) => instruction.join() !== whole[i]?.join())).toHaveLength(1);
  expect(accepted(damaged).filter(([, , , , content]) => !isJson(content))).toHaveLength(1);
  mend();
  expect(await sent(sandbox)).toEqual(whole);

  sandbox.push.faults.set({ kind: 'damaged-trade', times: 1 });
  const pushed = (await next()) ?? [];
  expect(accepted(pushed).filter(([, , , , content]) => !isJson(content))).toHaveLength(1);
  expect(await next()).toEqual(await sent(sandbox));
});

test('a node can push blocks without their instructions', async () => {
  await using sandbox = await fixedSandbox({ exchange: 'v3', history: 5 });
  const next = await subscribed(sandbox);
  sandbox.push.faults.set({ kind: 'without-instructions', times: 1 });
  expect(await next()).toBeUndefined();
  expect(await next()).toEqual(await sent(sandbox));
});
