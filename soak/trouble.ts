import type { Sandbox } from '../src/sandbox/sandbox.ts';
import type { Random } from '../src/sandbox/world/random.ts';
import { createFaultDeck, type MarketDataTrouble, type NodeTrouble } from './faults.ts';
import type { HostName, Outages } from './outages.ts';
import { pause } from './stage.ts';

/** How long a phase takes, in milliseconds. Healthy ones are long enough that nothing is excused in their second half. */
const CALM_MS = [7_000, 10_000] as const;
const TROUBLED_MS = [4_000, 9_000] as const;
const FAULT_MS = [1_000, 5_000] as const;
const DARK_MS = [2_000, 6_000] as const;

/** Lets both upstreams fail at random until the signal, and heals all then. */
export async function makeTrouble(
  sandbox: Sandbox,
  outages: Outages,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const deck = createFaultDeck(random);
  const hosts: readonly HostName[] = [...sandbox.nodes.keys(), 'market data'];
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
    await Promise.all(sandbox.nodes.map((_, node) => fail(node, deck.deadly(), ...DARK_MS)));
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
): Promise<() => void | Promise<void>> {
  const struck = host === 'market data' ? marketData : nodes[host];
  if (struck === undefined) throw new Error(`there is no node ${host}`);
  if (trouble === 'stopped') {
    await struck.stop();
    return () => struck.start();
  }
  // Which faults a host knows is the deck's business.
  return struck.faults.set(trouble as never);
}
