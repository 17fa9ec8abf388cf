import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type Stage } from '../stage.ts';
import { createHeadStream } from './head-stream.ts';
import { createOrderBookStream, createTickersStream } from './market-streams.ts';
import { createPricesStream } from './prices-stream.ts';
import type { Stream } from './stream.ts';

const KINDS: readonly ((stage: Stage, random: Random) => Stream)[] = [
  createHeadStream,
  createPricesStream,
  createPricesStream,
  createTickersStream,
  createOrderBookStream,
];

/** A subscription of any kind. */
export function createAnyStream(stage: Stage, random: Random): Stream {
  return pick(random, KINDS)(stage, random);
}

/** A subscription of each kind, prices twice. */
export function createEveryStream(stage: Stage, random: Random): Stream[] {
  return KINDS.map((create) => create(stage, random));
}
