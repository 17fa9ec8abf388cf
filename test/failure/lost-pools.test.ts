import { expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';
import { WARN } from '../support/log.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';

/** The number of pools at a height. No two texts are the same, so no stored answer is sent. */
const pastOf = (at: number, times: number) =>
  `{ poolPairs(first: 0, at: ${at}) { totalCount } times${times}: __typename }`;
const LOST = {
  level: WARN,
  pools: 0,
  before: 54,
  msg: 'an exchange state has fewer pools than the state at a lower height: the database of the node may be damaged',
};

test('a final state with fewer pools than one below it is logged as a warning, and read again when it is requested again', async () => {
  const { ask, sandbox, lines } = await startGatewayForTest({ sandbox: { history: 60 } });
  const { height } = sandbox.chain.tip;
  expect((await ask(pastOf(height - 20, 0))).data.poolPairs.totalCount).toBe(54);
  const at = height - 10;
  const clearFault = sandbox.node.faults.set({
    kind: 'shape',
    on: 'getpdestate',
    path: ['Result', 'PDEPoolPairs'],
    value: {},
  });
  for (const times of [1, 2]) expect((await ask(pastOf(at, times))).data.poolPairs.totalCount).toBe(0);
  expect(lines).toEqual([{ ...LOST, height: at }]);

  clearFault();
  const calls = sandbox.node.calls('getpdestate');
  for (const times of [3, 4]) expect((await ask(pastOf(at, times))).data.poolPairs.totalCount).toBe(54);
  expect(sandbox.node.calls('getpdestate')).toBe(calls + 1);
});

test('a response with a final state that has lost pools is not cached, neither by the gateway nor by others', async () => {
  const { url, sandbox, ask } = await serveGatewayForTest({ sandbox: { history: 60 } });
  const { height } = sandbox.chain.tip;
  await ask(pastOf(height - 20, 0));
  const clearFault = sandbox.node.faults.set({
    kind: 'shape',
    on: 'getpdestate',
    path: ['Result', 'PDEPoolPairs'],
    value: {},
  });
  const get = async () => {
    const response = await fetch(`${url}?query=${encodeURIComponent(pastOf(height - 10, 0))}`);
    const { data } = (await response.json()) as { data: { poolPairs: { totalCount: number } } };
    return [data.poolPairs.totalCount, response.headers.get('cache-control')];
  };
  for (let times = 0; times < 3; times++) expect(await get()).toEqual([0, 'no-store']);
  clearFault();
  expect(await get()).toEqual([54, 'public, max-age=31536000, immutable']);
});

test('a head with fewer pools than the one before it is logged as a warning once', async () => {
  const { ask, sandbox, advance, lines } = await startGatewayForTest({ sandbox: { history: 60 } });
  await ask('{ beaconHeight }');
  const clearFault = sandbox.node.faults.set({
    kind: 'shape',
    on: 'getpdestate',
    path: ['Result', 'PDEPoolPairs'],
    value: {},
  });
  await advance();
  expect(lines).toEqual([{ ...LOST, height: sandbox.chain.tip.height }]);
  clearFault();
  await advance();
  expect((await ask('{ poolPairs(first: 0) { totalCount } }')).data.poolPairs.totalCount).toBe(54);
  expect(lines).toHaveLength(1);
});
