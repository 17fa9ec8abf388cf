import type { Random } from '../src/sandbox/chain/random.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { createFaultDeck, type MarketDataTrouble, type NodeTrouble } from './faults.ts';
import type { HostName, Outages } from './outages.ts';
import { pause } from './stage.ts';
import type { ShownBlocks } from './truth/shown-blocks.ts';

/** How long a phase takes, in milliseconds. Healthy ones are long enough that nothing is excused in their second half. */
const CALM_MS = [7_000, 10_000] as const;
const TROUBLED_MS = [4_000, 9_000] as const;
const FAULT_MS = [1_000, 5_000] as const;
const DARK_MS = [2_000, 6_000] as const;

/** So many nodes stand behind the first URL. */
export const BALANCED_NODES = 2;

/** For so long the nodes behind it are on different branches, and for so long together again. */
const FORKED_MS = [1_500, 5_000] as const;
const TOGETHER_MS = [1_000, 4_000] as const;

/** A branch this far below the tip is not shown any more. */
const BLOCKS_UNTIL_FINAL = 3;

/** Lets both upstreams fail at random until the signal, and heals all then. */
export async function makeTrouble(
  sandbox: Sandbox,
  outages: Outages,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const deck = createFaultDeck(random);
  const urls = [...sandbox.nodeUrls.keys()];
  const hosts: readonly HostName[] = [...urls, 'market data'];
  const under = new Set<HostName>();

  /** One host fails for a while. */
  async function fail(
    host: HostName,
    trouble: NodeTrouble | MarketDataTrouble,
    low: number,
    high: number,
  ): Promise<void> {
    under.add(host);
    const over = outages.begin(host, trouble === 'stopped' ? trouble : trouble.kind);
    const heal = await strike(sandbox, host, trouble);
    await pause(random, low, high, signal);
    await heal();
    over();
    under.delete(host);
  }

  async function troubled(): Promise<void> {
    const failures: Promise<void>[] = [];
    for (let left = 3 + random.below(4); left > 0; left--) {
      const well = hosts.filter((host) => !under.has(host));
      const host = well[random.below(well.length)];
      if (host === 'market data') failures.push(fail(host, deck.marketData(), ...FAULT_MS));
      else if (host !== undefined) failures.push(fail(host, deck.node(), ...FAULT_MS));
      await pause(random, TROUBLED_MS[0] / 5, TROUBLED_MS[1] / 5, signal);
    }
    await Promise.all(failures);
  }

  async function dark(): Promise<void> {
    await Promise.all(urls.map((url) => fail(url, deck.deadly(), ...DARK_MS)));
  }

  while (!signal.aborted) {
    await pause(random, ...CALM_MS, signal);
    if (!signal.aborted) await (random.chance(0.25) ? dark() : troubled());
  }
}

/** Lets a fault befall a host. @returns how it heals */
async function strike(
  { nodes, marketData }: Sandbox,
  host: HostName,
  trouble: NodeTrouble | MarketDataTrouble,
): Promise<() => Promise<void>> {
  const struck = host === 'market data' ? [marketData] : nodesBehind(nodes, host);
  if (struck.length === 0) throw new Error(`there is no node ${host}`);
  const heal = struck.map(async (each) => {
    if (trouble === 'stopped') {
      await each.stop();
      return () => each.start();
    }
    // Which faults a host knows is the deck's business.
    return each.faults.set(trouble as never);
  });
  const healed = await Promise.all(heal);
  return async () => void (await Promise.all(healed.map((each) => each())));
}

/** The nodes that answer at a URL: several at the first, which is that of a load balancer. */
function nodesBehind<Node>(nodes: readonly Node[], url: number): readonly Node[] {
  return url === 0 ? nodes.slice(0, BALANCED_NODES) : nodes.slice(url + BALANCED_NODES - 1, url + BALANCED_NODES);
}

/** Lets one of the nodes behind the first URL go on a branch of the chain, again and again until the signal. */
export async function makeForks(
  { nodes: [node] }: Sandbox,
  shown: ShownBlocks,
  outages: Pick<Outages, 'fork'>,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(random, ...TOGETHER_MS, signal);
    const branch = shown.branch();
    const over = outages.fork();
    const heal = node.faults.set({ kind: 'fork', from: branch.from });
    await pause(random, ...FORKED_MS, signal);
    heal();
    branch.end();
    const { height } = shown.chain.tip;
    while (!signal.aborted && shown.chain.tip.height < height + BLOCKS_UNTIL_FINAL)
      await pause(random, 50, 100, signal);
    over();
  }
}
