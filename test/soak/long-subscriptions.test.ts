import { expect, onTestFinished, test, vi } from 'vitest';
import { openLongSubscriptions } from '../../soak/clients/long-subscriptions.ts';
import { expectedBook } from '../../soak/expected/order-book.ts';
import { routeToOne } from '../../soak/routes.ts';
import { createOrderBookSubscription } from '../../soak/subscriptions/market.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { startSilentGateway } from './silent-gateway.ts';
import { startContext } from './soak-context.ts';

/** Subscriptions of each kind on a websocket and over event streams, to the gateway of a context or to another one. */
async function openSubscriptions({ ofOther, isReady = true }: { ofOther?: URL; isReady?: boolean } = {}) {
  const { context, ...gateway } = await startContext({
    sandbox: { exchange: 'v3' },
    config: { marketPollMs: 50 },
    before: ({ node }) => isReady || node.faults.set({ kind: 'status', status: 500 }),
  });
  if (isReady) await gateway.untilReady();
  const url = ofOther ?? new URL(await gateway.app.listen(0, '127.0.0.1'));
  const subscriptions = await openLongSubscriptions(
    { ...context, url, routes: routeToOne(url) },
    createRandom('subscriptions'),
    1,
  );
  onTestFinished(() => subscriptions.close());
  const { judge } = context;
  return { ...gateway, ...context, subscriptions, stuck: () => judge.counts.wrong.get('a subscription is stuck') ?? 0 };
}

const SOON_MS = 20_000;

test('a subscription that never sends anything is stuck, unless a fault explains it', async () => {
  const { subscriptions, stuck, outages } = await openSubscriptions({ ofOther: (await startSilentGateway()).url });
  subscriptions.watch();
  expect(stuck()).toBe(0);
  const ends = [outages.begin(0, 'hang'), outages.begin('market data', 'hang')];
  subscriptions.watch(performance.now() + SOON_MS);
  expect(stuck()).toBe(0);
  for (const end of ends) end();
  // On the websocket and as event streams: heads, prices twice, trades, tickers and an order book.
  for (let times = 0; times < 2; times++) subscriptions.watch(performance.now() + SOON_MS);
  expect(stuck()).toBe(12);
  expect(subscriptions.notAtTip()).toHaveLength(12);
});

test('a subscription whose upstream fails at the start stays open, and is not stuck when it can be read', async () => {
  const { subscriptions, stuck, sandbox, outages, judge } = await openSubscriptions({ isReady: false });
  const end = outages.begin(0, 'status');
  await expect.poll(() => judge.counts.errors.get('UPSTREAM_BAD_STATUS')).toBe(8);
  sandbox.node.faults.clear();
  end();
  await expect.poll(() => subscriptions.notAtTip()).toEqual([]);
  subscriptions.watch(performance.now() + SOON_MS);
  expect(stuck()).toBe(0);
});

test('tickers and order books that stay as they are while blocks are made are stuck, and nothing else', async () => {
  const { subscriptions, stuck, sandbox, shown } = await openSubscriptions();
  shown.advance();
  await expect.poll(() => subscriptions.notAtTip()).toEqual([]);
  subscriptions.watch(performance.now() + SOON_MS);
  expect(stuck()).toBe(0);

  const kinds = ['tickers', 'order book', 'tickers', 'order book'];
  sandbox.marketData.faults.set({ kind: 'hang' });
  shown.advance();
  await expect.poll(() => subscriptions.notAtTip().map((text) => text.split(' of ')[0])).toEqual(kinds);
  subscriptions.watch(performance.now() + SOON_MS);
  expect(stuck()).toBe(4);
});

test('an order book from long before is a wrong update, unless the host could not be read', async () => {
  const { context } = await startContext();
  const { shown, outages } = context;
  const { chain } = shown;
  const before = chain.tip;
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  shown.advance();
  vi.advanceTimersByTime(60_000);
  function takeOld() {
    const { variables } = createOrderBookSubscription(context, createRandom('order book'));
    const { tickerId, depth } = variables as { readonly tickerId: string; readonly depth: number };
    const market = chain.markets.find((each) => each.tickerId === tickerId);
    if (market === undefined) throw new Error(`there is no ticker ${tickerId}`);
    return [chain.tip, before].map((block) =>
      createOrderBookSubscription(context, createRandom('order book')).check({
        orderBook: expectedBook(chain, market, block, depth),
      }),
    );
  }
  expect(takeOld()).toEqual([undefined, expect.stringContaining('did not show meanwhile')]);
  outages.begin('market data', 'hang');
  expect(takeOld()).toEqual([undefined, undefined]);
});
