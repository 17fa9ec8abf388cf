import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { createHeadSubscription } from './head.ts';
import { createOrderBookSubscription, createTickersSubscription } from './market.ts';
import { createPricesSubscription } from './prices.ts';
import type { CheckedSubscription } from './subscription.ts';
import { createTradesSubscription } from './trades.ts';

const KINDS: readonly ((context: SoakContext, random: Random) => CheckedSubscription)[] = [
  createHeadSubscription,
  createPricesSubscription,
  createPricesSubscription,
  createTradesSubscription,
  createTickersSubscription,
  createOrderBookSubscription,
];

/** A subscription of any kind. */
export function createAnySubscription(context: SoakContext, random: Random): CheckedSubscription {
  return pick(random, KINDS)(context, random);
}

/** A subscription of each kind, prices twice. */
export function createEachSubscription(context: SoakContext, random: Random): CheckedSubscription[] {
  return KINDS.map((create) => create(context, random));
}
