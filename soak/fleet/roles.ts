import { setTimeout as sleep } from 'node:timers/promises';
import type { Judge } from '../judge.ts';
import type { Outages } from '../outages.ts';
import type { Fleet } from './fleet.ts';

/** The roles of the gateways, as they report them. */
export type Roles = {
  /** How long the fleet had no leader after each one that was killed or paused, in milliseconds. */
  readonly takeovers: readonly number[];
  /** The longest time with two leaders, in milliseconds. */
  longestWithTwo(): number;
  /** Waits until another gateway leads. */
  untilOtherLeads(than: string): Promise<void>;
};

/** How long a lease lasts. Takeover, a paused leader and a restarted Redis are settled within two. */
export const LEASE_MS = 3_000;

/** How long a gateway may need to report its role on a busy machine. */
const REPORT_MS = 1_000;

const WATCH_MS = 100;

/** Watches the roles until the signal aborts: two leaders, or none, must be settled within two leases. */
export function watchRoles(
  fleet: Fleet,
  outages: Outages,
  judge: Judge,
  signal: AbortSignal,
): Roles & { readonly ended: Promise<void> } {
  const takeovers: number[] = [];
  let longest = 0;

  async function watch(): Promise<void> {
    let twoSince: number | undefined;
    let noneSince: number | undefined;
    while (!signal.aborted) {
      const roles = await Promise.all(fleet.replicas.map((replica) => replica.role()));
      const now = performance.now();
      const leaders = roles.filter((role) => role === 'LEADER').length;
      twoSince = leaders > 1 ? (twoSince ?? now) : undefined;
      noneSince = leaders === 0 ? (noneSince ?? now) : undefined;
      if (twoSince !== undefined) {
        longest = Math.max(longest, now - twoSince);
        if (now - twoSince > 2 * LEASE_MS + REPORT_MS)
          judge.fail('two gateways lead for longer than two leases', roles);
      }
      if (noneSince !== undefined && now - noneSince > 2 * LEASE_MS + REPORT_MS && !outages.wereAlone(noneSince, now))
        judge.fail('no gateway leads for longer than two leases', { roles, faults: outages.describe(noneSince, now) });
      await sleep(WATCH_MS, undefined, { signal }).catch(() => {});
    }
  }

  return {
    takeovers,
    longestWithTwo: () => longest,
    async untilOtherLeads(than) {
      const from = performance.now();
      const limit = 2 * LEASE_MS + REPORT_MS;
      for (;;) {
        const leader = await fleet.leader();
        const ms = performance.now() - from;
        if (leader !== undefined && leader.name !== than) {
          takeovers.push(ms);
          if (ms > limit) judge.fail(`a takeover took longer than two leases: ${Math.round(ms)} ms`);
          return;
        }
        if (signal.aborted || ms > 2 * limit) return;
        await sleep(WATCH_MS);
      }
    },
    ended: watch(),
  };
}
