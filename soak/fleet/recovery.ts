import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/sandbox/chain/random.ts';
import type { SoakContext } from '../context.ts';
import { createHttpClient } from '../http-client.ts';
import { headQuery } from '../queries/heads.ts';
import { tickersQuery } from '../queries/market.ts';
import { pastHeightsQuery } from '../queries/past-heights.ts';
import { routeToOne } from '../routes.ts';
import type { Fleet } from './fleet.ts';

/** Maximum time for the fleet to recover after the last fault: a gateway that was gone reports again, and a block. */
const RECOVERY_MS = 10_000;

const ROUNDS = 10;

/** Checks that a fleet recovers after the last fault: all gateways read together, and have the newest height. */
export async function checkFleetRecovery(context: SoakContext, fleet: Fleet, random: Random): Promise<void> {
  const { judge, shown } = context;
  for (let waited = 0; waited < RECOVERY_MS; waited += 500) {
    await sleep(500);
    if (waited % 1_000 === 0) shown.advance();
  }
  const counts = await Promise.all(fleet.replicas.map((replica) => replica.count()));
  if (counts.some((count) => count !== counts.length)) judge.fail('the gateways do not read together', counts);

  const errorsBefore = total(judge.counts.errors);
  for (const { url, name } of fleet.replicas) {
    const client = createHttpClient({ ...context, routes: routeToOne(url) }, `${name} after recovery 1`);
    for (let times = 0; times < ROUNDS; times++)
      for (const query of [headQuery, tickersQuery, pastHeightsQuery]) await client.execute(query(context, random));
    await client.close();
    const ready = await fetch(new URL('/ready', url));
    if (ready.status !== 200) judge.fail(`${name} is not ready after recovery`, await ready.text());
    const { head } = await headOf(url);
    if (head !== shown.chain.tip.height) judge.fail(`${name} is not at the tip after recovery`, { head });
  }
  const errors = total(judge.counts.errors) - errorsBefore;
  if (errors > 0) judge.fail(`${errors} errors after recovery`);
}

async function headOf(url: URL): Promise<{ readonly head: number }> {
  const response = await fetch(`${url}?query={beaconHeight}`);
  const { data } = (await response.json()) as { readonly data: { readonly beaconHeight: number } };
  return { head: data.beaconHeight };
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
