import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../src/sandbox/chain/random.ts';
import type { LongSubscriptions } from './clients/long-subscriptions.ts';
import { pick, type SoakContext } from './context.ts';
import { isV3, tradingPools } from './expected/exchange.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { createHttpClient } from './http-client.ts';
import { headQuery } from './queries/heads.ts';
import { tickerQuery, tickersQuery } from './queries/market.ts';
import { pastHeightsQuery } from './queries/past-heights.ts';
import { type TradesOfPool, tradesQuery } from './queries/pool-trades.ts';

type Recovery = {
  readonly context: SoakContext;
  readonly gateway: GatewayProcess;
  readonly subscriptions: LongSubscriptions;
  readonly random: Random;
};

/** Maximum time for the gateway to recover after the last fault. */
const RECOVERY_MS = 7_000;

/** Maximum time until the gateway disconnects a client that does not respond to pings, which it sends every 12 s. */
const DISCONNECT_MS = 45_000;

/**
 * Checks that the gateway recovers after the last fault: operations have no errors, subscriptions that were opened at the start
 * are at the tip, and disconnected clients leave no subscriptions.
 */
export async function checkRecovery({ context, gateway, subscriptions, random }: Recovery): Promise<void> {
  const { judge, shown } = context;
  const later = { ...context, signal: new AbortController().signal };
  for (let waited = 0; waited < RECOVERY_MS; waited += 500) {
    await sleep(500);
    shown.advance();
  }
  await untilNothing(3_000, 'a subscription is not at the tip after recovery', () => subscriptions.notAtTip());

  const before = new Map(judge.counts.errors);
  const client = createHttpClient(later, 'recovery client');
  for (let times = 0; times < 20; times++) {
    for (const query of [headQuery, tickersQuery, tickerQuery, pastHeightsQuery])
      await client.execute(query(later, random));
  }
  if (isV3(shown.chain)) await readTradesOfHour();
  await client.close();
  const errors = [...judge.counts.errors].filter(([code, times]) => times > (before.get(code) ?? 0));
  if (errors.length > 0)
    judge.fail(
      'errors after recovery',
      errors.map(([code, times]) => `${times - (before.get(code) ?? 0)} ${code}`),
    );
  const ready = await fetch(new URL('/ready', gateway.url));
  if (ready.status !== 200) judge.fail('not ready after recovery', await ready.text());

  await untilNothing(DISCONNECT_MS, 'subscriptions of disconnected clients remain', () => remaining(true));
  subscriptions.close();
  await untilNothing(3_000, 'subscriptions of disconnected clients remain', () => remaining(false));

  /** Blocks that were damaged or that failed several times are read again after an hour only, so that not every run has all of them. */
  async function readTradesOfHour(): Promise<void> {
    const pool = pick(random, tradingPools(shown.chain));
    const answer = await client.execute(tradesQuery(later, { pool, hours: 1, first: 500 }));
    const { volume } = (answer?.data?.['pool'] ?? {}) as TradesOfPool;
    judge.count(`an hour of trades at the end, ${volume?.isComplete ? 'complete' : 'not complete'}`);
  }

  async function remaining(hasLongSubscriptions: boolean): Promise<string[]> {
    // Updates fill the socket buffer of a client that has vanished. Only then does it differ from a slow one.
    if (hasLongSubscriptions) shown.advance();
    const metrics = await gateway.metrics();
    const sources = (['head', 'tickers', 'order_books'] as const).map((source) => ({
      what: `subscriptions to ${source}`,
      is: metrics.sum('pdex_subscriptions', { source }),
      expected: subscriptions.count(source),
    }));
    return [{ what: 'websockets', is: metrics.sum('pdex_websockets'), expected: subscriptions.sockets }, ...sources]
      .filter(({ is, expected }) => is !== (hasLongSubscriptions ? expected : 0))
      .map(({ what, is, expected }) => `${is} ${what} instead of ${hasLongSubscriptions ? expected : 0}`);
  }

  async function untilNothing(
    timeoutMs: number,
    what: string,
    find: () => readonly string[] | Promise<readonly string[]>,
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    let found = await find();
    while (found.length > 0 && performance.now() < deadline) {
      await sleep(250);
      found = await find();
    }
    if (found.length > 0) judge.fail(what, found);
  }
}
