import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../src/sandbox/chain/random.ts';
import { createHttpClient } from './ask.ts';
import type { LoyalSubscribers } from './clients/loyal.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { askWholeHead } from './questions/heads.ts';
import { askTicker, askTickers } from './questions/market.ts';
import { askPast } from './questions/past.ts';
import type { Stage } from './stage.ts';

/** What the last look needs. */
type Healing = {
  readonly stage: Stage;
  readonly gateway: GatewayProcess;
  readonly loyal: LoyalSubscribers;
  readonly random: Random;
};

/** So long after the last fault everything must be right. */
const HEALED_WITHIN_MS = 7_000;

/** A peer that vanished is asked every 12 s whether it is there, and is given up when it did not answer the time before. */
const GIVEN_UP_WITHIN_MS = 45_000;

/**
 * After all faults are over: every question is answered without an error, subscriptions that were opened at the start are
 * at the tip, and nothing is left of those who went.
 */
export async function heal({ stage, gateway, loyal, random }: Healing): Promise<void> {
  const { judge, shown } = stage;
  const later = { ...stage, signal: new AbortController().signal };
  for (let waited = 0; waited < HEALED_WITHIN_MS; waited += 500) {
    await sleep(500);
    shown.advance();
  }
  await untilNothing(3_000, 'a subscription is not at the tip after healing', () => loyal.notAtTip());

  const errorsBefore = total(judge.counts.errors);
  const client = createHttpClient(later, 'healed');
  for (let times = 0; times < 20; times++) {
    for (const ask of [askWholeHead, askTickers, askTicker, askPast]) await client.ask(ask(later, random));
  }
  await client.close();
  const errors = total(judge.counts.errors) - errorsBefore;
  if (errors > 0) judge.wrong(`${errors} errors after healing`);
  const ready = await fetch(new URL('/ready', gateway.url));
  if (ready.status !== 200) judge.wrong('not ready after healing', await ready.text());

  await untilNothing(GIVEN_UP_WITHIN_MS, 'something is left of clients that went', () => leftOver(true));
  loyal.leave();
  await untilNothing(3_000, 'something is left of clients that went', () => leftOver(false));

  async function leftOver(isLoyal: boolean): Promise<string[]> {
    // Updates fill what the system buffers for a reader that vanished: only then can it be told from a slow one.
    if (isLoyal) shown.advance();
    const metrics = await gateway.metrics();
    const sources = (['head', 'tickers', 'order_books'] as const).map((source) => ({
      what: `listeners to ${source}`,
      is: metrics.sum('pdex_subscriptions', { source }),
      expected: loyal.listeners(source),
    }));
    return [{ what: 'websockets', is: metrics.sum('pdex_websockets'), expected: loyal.sockets }, ...sources]
      .filter(({ is, expected }) => is !== (isLoyal ? expected : 0))
      .map(({ what, is, expected }) => `${is} ${what} instead of ${isLoyal ? expected : 0}`);
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
    if (found.length > 0) judge.wrong(what, found);
  }
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
