import { expect, onTestFinished, test } from 'vitest';
import { ProxyError, UpstreamUnreachableError } from '../../../src/errors.ts';
import { createExchangeVersions } from '../../../src/live/chain/exchange-versions.ts';
import { createNode } from '../../../src/live/chain/node.ts';
import { createSandboxHosts, type SandboxHostsOptions } from '../../../src/sandbox/sandbox.ts';
import type { NodeClient } from '../../../src/upstream/node/client.ts';
import { nodeAt, UNWATCHED } from '../../upstream/connect.ts';
import { failureOf } from '../../upstream/failure.ts';

const V3 = { seed: 7, startTime: Date.UTC(2026, 0, 1) / 1_000, exchange: 'v3', history: 10, nodes: 2 } as const;

/** The fee rates on the chain, and on a branch of it. */
const FEE_RATES = [25, 77];

const { signal } = new AbortController();

function nodeOf(client: NodeClient) {
  const versions = createExchangeVersions({ fixed: 'V3', probeMs: 60_000, onChange() {} });
  return createNode(client, {
    versions,
    isRightChain: () => true,
    graceMs: 1_000,
    maxPauseMs: 1,
    watcher: UNWATCHED(),
  });
}

/** Two nodes, of which the second has shown a branch with another fee rate for some blocks. */
async function openForked(options: SandboxHostsOptions = {}) {
  const sandbox = await createSandboxHosts({ ...V3, ...options });
  onTestFinished(sandbox.close);
  const { chain, nodes } = sandbox;
  const from = chain.tip.height + 1;
  nodes[1]?.faults.set({ kind: 'fork', from });
  const path = ['Result', 'Params', 'DefaultFeeRateBPS'];
  nodes[1]?.faults.set({ kind: 'shape', on: 'pdexv3_getState', path, value: FEE_RATES[1] });
  sandbox.advance(5);
  /** The block of the chain and that of the branch at a height. */
  const blocksAt = (height: number) => [chain.block(height), chain.branchBlock(from, height)];
  const calls = () => nodes.reduce((sum, node) => sum + node.calls('pdexv3_getState'), 0);
  const { client } = nodeAt(sandbox.nodeUrls[0] ?? '');
  return { sandbox, client, blocksAt, calls };
}

test('behind a load balancer, the parameters of a new block are its own', async () => {
  const { sandbox, client, blocksAt } = await openForked({ balanced: {} });
  const node = nodeOf(client);
  for (let blocks = 0; blocks < 8; blocks++) {
    sandbox.advance();
    const { chainInfo, exchange } = await node.readBlock(await client.chainInfo(), signal);
    const { height, hash } = chainInfo.beacon;
    const place = blocksAt(height).findIndex((block) => block?.hash === hash);
    expect(exchange.v3?.params.defaultFeeRateBps).toBe(FEE_RATES[place]);
  }
});

test('behind a load balancer, the parameters of an earlier state are those of its block', async () => {
  const { client, blocksAt } = await openForked({ balanced: {} });
  const node = nodeOf(client);
  const headBlock = (await client.chainInfo()).beacon;
  const height = headBlock.height - 4;
  for (let reads = 0; reads < 8; reads++) {
    const { time = 0, v3 } = await node.readPastState({ height, headBlock, block: undefined }, signal);
    const place = blocksAt(height).findIndex((block) => block?.time === time / 1_000);
    expect(v3?.params.defaultFeeRateBps).toBe(FEE_RATES[place]);
  }
});

test('parameters that are always those of another block are an error, and no state', async () => {
  const { sandbox, client: own, calls } = await openForked();
  const { newestParamsV3, earlierParamsV3 } = nodeAt(sandbox.nodeUrls[1] ?? '').client;
  const client = { ...own, newestParamsV3, earlierParamsV3 };
  const node = nodeOf(client);
  const tip = await client.chainInfo();
  const error = { code: 'UPSTREAM_BAD_SHAPE', retryable: true };
  const message = expect.stringContaining('its pools and its parameters are of two blocks');
  expect(await failureOf(node.readBlock(tip, signal))).toMatchObject({ ...error, message });
  // Four reads, each of pools and of four times the parameters.
  expect(calls()).toBe(20);
  const past = { height: tip.beacon.height - 4, headBlock: tip.beacon, block: undefined };
  expect(await failureOf(node.readPastState(past, signal))).toMatchObject(error);
  expect(calls()).toBe(40);
});

test('as long as the parameters are of the block of the pools, they are read once', async () => {
  const { client, calls } = await openForked();
  const node = nodeOf(client);
  const tip = await client.chainInfo();
  await node.readBlock(tip, signal);
  await node.readPastState({ height: tip.beacon.height - 4, headBlock: tip.beacon, block: undefined }, signal);
  expect(calls()).toBe(4);
});

test('a node that closes the connection gets a hint, in an error of its own: the circuit throws its error again', async () => {
  const { client } = await openForked();
  const outage = new UpstreamUnreachableError(
    'NODE',
    { host: 'node' },
    new ProxyError('HTTPS_PROXY', 'refuses it', new Error('503')),
  );
  const node = nodeOf({ ...client, probeV3: () => Promise.reject(outage) });
  const error = await node.hasV3(5, 1).catch((reason: unknown) => reason);
  const hint = expect.stringContaining('EXCHANGE_VERSION=v1');
  expect(error).toMatchObject({ message: outage.message, cause: outage.cause, details: { host: 'node', hint } });
  expect(outage.details).toEqual({ host: 'node' });
});
