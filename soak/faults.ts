import type { Random } from '../src/sandbox/chain/random.ts';
import type { FaultTarget, HttpFault, MarketDataFault, NodeFault } from '../src/sandbox/faults.ts';
import type { MarketDataCall } from '../src/sandbox/market-data-host.ts';
import type { NodeCall } from '../src/sandbox/node-host.ts';
import { pick } from './stage.ts';

/** A fault with the calls that it befalls; or `stopped`, for a host that does not even listen. */
export type NodeTrouble = (NodeFault & FaultTarget<NodeCall>) | 'stopped';
/** The same for the market-data host. */
export type MarketDataTrouble = (MarketDataFault & FaultTarget<MarketDataCall>) | 'stopped';

const NODE_CALLS: readonly NodeCall[] = ['getblockchaininfo', 'getbeaconbeststatedetail', 'getpdestate'];
const MARKET_DATA_CALLS: readonly MarketDataCall[] = ['pairs', 'tickers', 'orderbook'];

/** What can go wrong with any host. Shapes come apart: they depend on what is asked. */
const HTTP_FAULTS: readonly ((random: Random) => HttpFault)[] = [
  (random) => ({ kind: 'delay', ms: 50 + random.below(600) }),
  () => ({ kind: 'hang' }),
  () => ({ kind: 'drip' }),
  (random) => ({ kind: 'status', status: pick(random, [401, 403, 429, 500, 502, 503, 504, 522]), body: 'no' }),
  (random) => ({ kind: 'html', status: pick(random, [200, 403, 503]) }),
  () => ({ kind: 'truncated' }),
  () => ({ kind: 'garbage' }),
  () => ({ kind: 'empty' }),
  () => ({ kind: 'endless' }),
  () => ({ kind: 'reset' }),
  () => ({ kind: 'reset-in-body' }),
];

/** Misfits that cannot be taken for a right answer: a wrong number of the right type would be the node's own word. */
const NODE_SHAPES: readonly (NodeFault & FaultTarget<NodeCall>)[] = [
  { kind: 'shape', on: 'getblockchaininfo', path: ['Result', 'BestBlocks'], value: undefined },
  { kind: 'shape', on: 'getblockchaininfo', path: ['Result', 'BestBlocks', '-1', 'Height'], value: 'high' },
  { kind: 'shape', on: 'getblockchaininfo', path: ['Result', 'BestBlocks', '*', 'Hash'], value: 7 },
  { kind: 'shape', on: 'getbeaconbeststatedetail', path: ['Result', 'BeaconHeight'], value: null },
  { kind: 'shape', on: 'getpdestate', path: ['Result', 'PDEPoolPairs'], value: [] },
  { kind: 'shape', on: 'getpdestate', path: ['Result', 'PDEPoolPairs', '*', 'Token1PoolValue'], value: -1 },
  { kind: 'shape', on: 'getpdestate', path: ['Result'], value: null },
];
const MARKET_DATA_SHAPES: readonly (MarketDataFault & FaultTarget<MarketDataCall>)[] = [
  { kind: 'shape', on: 'pairs', path: ['pairs'], value: 'none' },
  { kind: 'shape', on: 'tickers', path: ['tickers'], value: undefined },
  { kind: 'shape', on: 'orderbook', path: ['bids'], value: 7 },
  { kind: 'shape', on: 'orderbook', path: ['timestamp'], value: 'now' },
];

const NODE_FAULTS: readonly ((random: Random) => NodeTrouble)[] = [
  ...HTTP_FAULTS,
  (random) => pick(random, NODE_SHAPES),
  (random) => ({ kind: 'lag', blocks: 1 + random.below(8) }),
  (random) => ({ kind: 'syncing', blocks: 20 + random.below(400) }),
  () => ({ kind: 'state-missing' }),
  () => ({ kind: 'state-error', because: 'open /data/000123.ldb: too many open files' }),
  () => ({ kind: 'wrong-id' }),
  () => 'stopped',
];
const MARKET_DATA_FAULTS: readonly ((random: Random) => MarketDataTrouble)[] = [
  ...HTTP_FAULTS,
  (random) => pick(random, MARKET_DATA_SHAPES),
  () => ({ kind: 'no-data' }),
  () => 'stopped',
];

/** Deals faults as from a shuffled deck, so that each kind comes before any comes again. */
type FaultDeck = {
  node(): NodeTrouble;
  /** One that leaves the node nothing to answer with, whatever it is asked. */
  deadly(): NodeTrouble;
  marketData(): MarketDataTrouble;
};

/** Makes the decks of a run. */
export function createFaultDeck(random: Random): FaultDeck {
  const nodes = createDeck(random, NODE_FAULTS);
  const marketData = createDeck(random, MARKET_DATA_FAULTS);
  const aimed = <Fault, Call>(trouble: Fault, calls: readonly Call[]) =>
    trouble === 'stopped' || (trouble as { on?: Call }).on !== undefined || random.chance(0.5)
      ? trouble
      : { ...trouble, on: pick(random, calls) };

  return {
    node: () => aimed(nodes()(random), NODE_CALLS),
    deadly: () =>
      pick<NodeTrouble>(random, ['stopped', { kind: 'hang' }, { kind: 'status', status: 503 }, { kind: 'reset' }]),
    marketData: () => aimed(marketData()(random), MARKET_DATA_CALLS),
  };
}

function createDeck<T>(random: Random, cards: readonly T[]): () => T {
  let deck: T[] = [];
  return () => {
    if (deck.length === 0) deck = [...cards];
    const [card] = deck.splice(random.below(deck.length), 1);
    return card as T;
  };
}
