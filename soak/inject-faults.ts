import type { Random } from '../src/sandbox/chain/random.ts';
import type { SandboxHosts } from '../src/sandbox/sandbox.ts';
import { pause } from './context.ts';
import { isV3 } from './expected/exchange.ts';
import { createFaultDeck, type SoakMarketDataFault, type SoakNodeFault } from './faults.ts';
import { BLOCKS_UNTIL_FINAL, type HostName, type Outages } from './outages.ts';
import type { ShownBlocks } from './shown-blocks.ts';

/** Durations of phases, in milliseconds. Phases without faults are so long that faults explain nothing in their second half. */
const FAULT_FREE_MS = [7_000, 10_000] as const;
const FAULTY_MS = [4_000, 9_000] as const;
const FAULT_MS = [1_000, 5_000] as const;
const OUTAGE_MS = [2_000, 6_000] as const;

/** Number of nodes behind the first URL. */
export const BALANCED_NODES = 2;

/** Durations of the phases in which these nodes are on different branches, and on the same one. */
const FORKED_MS = [1_500, 5_000] as const;
const UNITED_MS = [1_000, 4_000] as const;

/** Injects random faults into all hosts until the signal aborts. Then it clears all faults. */
export async function injectFaults(
  sandbox: SandboxHosts,
  outages: Outages,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const deck = createFaultDeck(random, isV3(sandbox.chain));
  const urls = [...sandbox.nodeUrls.keys()];
  const hosts: readonly HostName[] = [...urls, 'market data'];
  const failing = new Set<HostName>();

  /** Injects a fault into a host for some time. */
  async function fail(
    host: HostName,
    fault: SoakNodeFault | SoakMarketDataFault,
    low: number,
    high: number,
  ): Promise<void> {
    failing.add(host);
    const end = outages.begin(host, fault === 'stopped' ? fault : fault.kind);
    const clear = await inject(sandbox, host, fault);
    await pause(random, low, high, signal);
    await clear();
    end();
    failing.delete(host);
  }

  async function failSome(): Promise<void> {
    const failures: Promise<void>[] = [];
    for (let left = 3 + random.below(4); left > 0; left--) {
      const healthy = hosts.filter((host) => !failing.has(host));
      const host = healthy[random.below(healthy.length)];
      if (host === 'market data') failures.push(fail(host, deck.marketData(), ...FAULT_MS));
      else if (host !== undefined) failures.push(fail(host, deck.node(), ...FAULT_MS));
      await pause(random, FAULTY_MS[0] / 5, FAULTY_MS[1] / 5, signal);
    }
    await Promise.all(failures);
  }

  async function failAllNodes(): Promise<void> {
    await Promise.all(urls.map((url) => fail(url, deck.fatal(), ...OUTAGE_MS)));
  }

  while (!signal.aborted) {
    await pause(random, ...FAULT_FREE_MS, signal);
    if (!signal.aborted) await (random.chance(0.25) ? failAllNodes() : failSome());
  }
}

/** Injects a fault into a host. @returns a function that clears it */
async function inject(
  { nodes, marketData }: SandboxHosts,
  host: HostName,
  fault: SoakNodeFault | SoakMarketDataFault,
): Promise<() => Promise<void>> {
  const hosts = host === 'market data' ? [marketData] : nodesBehind(nodes, host);
  if (hosts.length === 0) throw new Error(`there is no node ${host}`);
  const injected = hosts.map(async (each) => {
    if (fault === 'stopped') {
      await each.stop();
      return () => each.start();
    }
    // The deck ensures that the host has this kind of fault.
    const faults: { set(fault: SoakNodeFault | SoakMarketDataFault): () => void } = each.faults;
    return faults.set(fault);
  });
  const clears = await Promise.all(injected);
  return async () => void (await Promise.all(clears.map((clear) => clear())));
}

/** The nodes behind a URL: several behind the first, which is that of a load balancer. */
export function nodesBehind<Node>(nodes: readonly Node[], url: number): readonly Node[] {
  return url === 0 ? nodes.slice(0, BALANCED_NODES) : nodes.slice(url + BALANCED_NODES - 1, url + BALANCED_NODES);
}

/** Puts one of the nodes behind the first URL on a branch of the chain, again and again until the signal aborts. */
export async function injectForks(
  { nodes: [node] }: SandboxHosts,
  shown: ShownBlocks,
  outages: Pick<Outages, 'fork'>,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(random, ...UNITED_MS, signal);
    const branch = shown.branch();
    const end = outages.fork(branch.from);
    const clear = node.faults.set({ kind: 'fork', from: branch.from });
    await pause(random, ...FORKED_MS, signal);
    clear();
    branch.end();
    const { height } = shown.chain.tip;
    while (!signal.aborted && shown.chain.tip.height < height + BLOCKS_UNTIL_FINAL)
      await pause(random, 50, 100, signal);
    end();
  }
}
