import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { sample } from './metrics.ts';
import { type ServedGateway, serveGatewayForTest } from './served-gateway.ts';

/** Two gateways that follow one chain, each at a node of its own. */
export type TwoGateways = {
  readonly sandbox: SandboxHosts;
  readonly ahead: ServedGateway;
  /** The other one, which `advance` leaves behind until `catchUp` is called. */
  readonly behind: ServedGateway;
  /** Makes a block, and waits until the first gateway serves it. The node of the other one does not show it yet. */
  advance(): Promise<void>;
  catchUp(): void;
  /** How many operations wait for a height at the gateway that is behind. */
  waiting(): Promise<number | undefined>;
  /** Sends the requests of a client to the two gateways in turn, as a load balancer does; the next one to that which is ahead. */
  readonly fetch: typeof fetch;
};

/** Serves two gateways for one test. */
export async function serveTwoGateways(): Promise<TwoGateways> {
  const config = { marketPollMs: 60_000 };
  const ahead = await serveGatewayForTest({
    sandbox: { nodes: 2, history: 20 },
    configOf: ({ nodeUrls: [first = ''] }) => ({ ...config, fullnodeUrl: [new URL(first)] }),
  });
  const { sandbox } = ahead;
  const behind = await serveGatewayForTest({
    sandbox: { history: 1 },
    configOf: () => ({
      ...config,
      fullnodeUrl: [new URL(sandbox.nodeUrls[1] ?? '')],
      marketDataUrl: new URL(sandbox.marketDataUrl),
    }),
  });
  await Promise.all([ahead.untilReady(), behind.untilReady()]);
  const gateways = [ahead, behind];
  let lagging: (() => void) | undefined;
  let turn = 0;

  return {
    sandbox,
    ahead,
    behind,
    async advance() {
      lagging = sandbox.nodes[1]?.faults.set({ kind: 'lag', blocks: 1 });
      await ahead.advance();
    },
    catchUp: () => lagging?.(),
    async waiting() {
      const text = await (await fetch(new URL('/metrics', behind.url))).text();
      return sample(text, 'pdex_minimum_height_waiting');
    },
    fetch: (input, init) => {
      const { search } = URL.parse(String(input)) ?? { search: '' };
      return fetch(`${gateways[turn++ % gateways.length]?.url}${search}`, init);
    },
  };
}
