import { expect } from 'vitest';
import type { NodeFault } from '../../src/sandbox/faults.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import type { Config } from '../../src/settings/settings.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';
import { sample } from '../support/metrics.ts';

/** Each height as it is published. */
export const HEADS = 'subscription { head { beaconHeight previousHeight hash } }';
/** Data of the chain: at the current height, and at an earlier one. */
export const STATE = `query ($at: BeaconHeight!) {
  beaconHeight
  now: poolPairs(first: 0) { totalCount }
  earlier: poolPairs(first: 0, at: $at) { totalCount }
  service { head { stale } }
}`;
/** How many pools the sandbox has. */
export const POOLS = { totalCount: 54 };
/** What `service` reports while the chain is read. */
export const FRESH = { head: { stale: false } };

/** The settings for a fault that shows only after the timeout of the gateway. A good response must not take as long. */
export function configFor({ kind }: Fault): Partial<Config> {
  return kind === 'hang' || kind === 'drip' ? { upstreamTimeoutMs: 1_000, headPollMs: 200 } : {};
}

/** Starts a gateway with three nodes. It reads the first while that one responds. */
export async function openThreeNodes({ before, config = {} }: Pick<TestGatewayOptions, 'before' | 'config'> = {}) {
  const options = { config, sandbox: { nodes: 3, history: 60 } };
  const gateway = await startGatewayForTest(before === undefined ? options : { ...options, before });
  const { app, sandbox } = gateway;
  const url = await app.listen(0, '127.0.0.1');
  const metrics = async () => (await fetch(new URL('/metrics', url))).text();
  const hosts = sandbox.nodes.map((node) => new URL(node.url).host);
  return {
    ...gateway,
    hosts,
    nodesFigure: async (name: string) => {
      const text = await metrics();
      return hosts.map((host) => sample(text, `${name}{host="${host}"}`));
    },
    upstreamFigure: async (name: string) => sample(await metrics(), name),
    readyStatus: async () => (await fetch(new URL('/ready', url))).status,
  };
}

/** A node that does not listen. */
export const REFUSED = { kind: 'refused' } as const;
/** How a node can fail. */
export type Fault = NodeFault | typeof REFUSED;

/** Makes one of the nodes fail. */
export async function startOutage({ nodes }: SandboxHosts, which: number, fault: Fault): Promise<void> {
  if (fault.kind === 'refused') await nodes[which]?.stop();
  else nodes[which]?.faults.set(fault);
}

/** Ends its failure. */
export async function endOutage({ nodes }: SandboxHosts, which: number): Promise<void> {
  nodes[which]?.faults.clear();
  await nodes[which]?.start();
}

/** The line of the log when a node fails. */
export function broken(node: string | undefined, code: string) {
  return expect.objectContaining({ level: WARN, msg: 'one of the nodes cannot be read', node, code });
}

/** The line of the log when it has recovered. */
export function recovered(node: string | undefined) {
  return { level: INFO, msg: 'one of the nodes can be read again', node };
}
