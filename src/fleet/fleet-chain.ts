import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from './redis.ts';

/** The chain that a fleet follows. All its replicas must follow the same. */
export type FleetChain = {
  /** Whether the fleet follows the chain of this gateway, as far as both are known. */
  isOurs(): boolean;
  /** Notes that this gateway follows a chain. @throws Error if the fleet follows another one, or Redis cannot be used */
  join(name: string): Promise<void>;
  /**
   * Compares the chain of the fleet with that of the nodes, for a few seconds at most.
   *
   * @returns the name of the other chain; `undefined` if it is the same, or if that cannot be known now
   */
  otherChain(nodes: ChainNodes): Promise<string | undefined>;
};

/** The nodes of this gateway. */
type ChainNodes = { poll(): Promise<readonly { readonly tip: { readonly chainName: string } }[]> };

/** The name is forgotten when no replica has published a head for this time. */
const TTL_MS = 3_600_000;

/** How long a gateway that starts waits for Redis, and for its nodes. */
const REDIS_MS = 1_000;
const NODES_MS = 2_000;

/** Creates what is known of the chain of a fleet. @param onOther is called once if it is another one */
export function createFleetChain(redis: Redis, onOther: (name: string) => void): FleetChain {
  const key = redis.fleetKey('chain');
  let other: string | undefined;

  /** Compares the chain of the fleet with one. @throws Error if Redis cannot be used */
  async function compare(name: string): Promise<void> {
    const reply = await redis.command(key, 'GET', key);
    if (reply === null || String(reply) === name || other !== undefined) return;
    other = String(reply);
    onOther(other);
  }

  return {
    isOurs: () => other === undefined,
    async join(name) {
      await compare(name);
      if (other !== undefined) throw new Error('the fleet follows another chain');
      await redis.command(key, 'SET', key, name, 'PX', String(TTL_MS));
    },
    async otherChain(nodes) {
      if (!(await redis.ready(REDIS_MS))) return undefined;
      const tips = await Promise.race([nodes.poll().catch(() => []), sleep(NODES_MS, [], { ref: false })]);
      const name = tips[0]?.tip.chainName;
      if (name !== undefined) await compare(name).catch(() => {});
      return other;
    },
  };
}
