import type { Random } from '../src/sandbox/chain/random.ts';
import type {
  FaultTarget,
  HttpFault,
  MarketDataCall,
  MarketDataFault,
  NodeCall,
  NodeFault,
} from '../src/sandbox/faults.ts';
import { pick } from './context.ts';

/** A fault of a node with its target; or `stopped`, for a node that does not listen. */
export type SoakNodeFault = (NodeFault & FaultTarget<NodeCall>) | 'stopped';
/** A fault of the market-data host with its target; or `stopped`. */
export type SoakMarketDataFault = (MarketDataFault & FaultTarget<MarketDataCall>) | 'stopped';

const NODE_CALLS: readonly NodeCall[] = ['getblockchaininfo', 'getbeaconbeststatedetail', 'getpdestate'];
/** The same where V3 of the exchange trades: `getpdestate` is not called there. */
const NODE_CALLS_OF_V3: readonly NodeCall[] = ['getblockchaininfo', 'getbeaconbeststatedetail', 'pdexv3_getState'];
const MARKET_DATA_CALLS: readonly MarketDataCall[] = ['pairs', 'tickers', 'orderbook'];

/** Faults of any host. Wrong shapes depend on the call and are listed below. */
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

/** Wrong shapes that cannot be valid responses. The gateway could not detect a wrong number of the right type. */
type Shapes = readonly (NodeFault & FaultTarget<NodeCall>)[];
const TIP_SHAPES: Shapes = [
  { kind: 'shape', on: 'getblockchaininfo', path: ['Result', 'BestBlocks'], value: undefined },
  { kind: 'shape', on: 'getblockchaininfo', path: ['Result', 'BestBlocks', '-1', 'Height'], value: 'high' },
  { kind: 'shape', on: 'getblockchaininfo', path: ['Result', 'BestBlocks', '*', 'Hash'], value: 7 },
  { kind: 'shape', on: 'getbeaconbeststatedetail', path: ['Result', 'BeaconHeight'], value: null },
];
const V1_SHAPES: Shapes = [
  { kind: 'shape', on: 'getpdestate', path: ['Result', 'PDEPoolPairs'], value: [] },
  { kind: 'shape', on: 'getpdestate', path: ['Result', 'PDEPoolPairs', '*', 'Token1PoolValue'], value: -1 },
  { kind: 'shape', on: 'getpdestate', path: ['Result'], value: null },
];
const V3_STATE = ['Result', 'PoolPairs', '*', 'State'];
const V3_SHAPES: Shapes = [
  { kind: 'shape', on: 'pdexv3_getState', path: ['Result', 'PoolPairs'], value: [] },
  { kind: 'shape', on: 'pdexv3_getState', path: [...V3_STATE, 'Token0RealAmount'], value: -1 },
  { kind: 'shape', on: 'pdexv3_getState', path: [...V3_STATE, 'Token1VirtualAmount'], value: null },
  { kind: 'shape', on: 'pdexv3_getState', path: ['Result'], value: null },
];
const MARKET_DATA_SHAPES: readonly (MarketDataFault & FaultTarget<MarketDataCall>)[] = [
  { kind: 'shape', on: 'pairs', path: ['pairs'], value: 'none' },
  { kind: 'shape', on: 'tickers', path: ['tickers'], value: undefined },
  { kind: 'shape', on: 'orderbook', path: ['bids'], value: 7 },
  { kind: 'shape', on: 'orderbook', path: ['timestamp'], value: 'now' },
];

const NODE_FAULTS: readonly ((random: Random) => SoakNodeFault)[] = [
  ...HTTP_FAULTS,
  (random) => ({ kind: 'lag', blocks: 1 + random.below(8) }),
  (random) => ({ kind: 'syncing', blocks: 20 + random.below(400) }),
  () => ({ kind: 'state-missing' }),
  () => ({ kind: 'state-error', because: 'open /data/000123.ldb: too many open files' }),
  () => ({ kind: 'wrong-id' }),
  () => 'stopped',
];
const MARKET_DATA_FAULTS: readonly ((random: Random) => SoakMarketDataFault)[] = [
  ...HTTP_FAULTS,
  (random) => pick(random, MARKET_DATA_SHAPES),
  () => ({ kind: 'no-data' }),
  () => 'stopped',
];

/** Draws faults from a shuffled deck, so that each kind comes before any kind comes again. */
type FaultDeck = {
  node(): SoakNodeFault;
  /** A fault with which the node cannot respond to any call. */
  fatal(): SoakNodeFault;
  marketData(): SoakMarketDataFault;
};

/** Creates the decks of a run. @param isV3 whether V3 of the exchange trades */
export function createFaultDeck(random: Random, isV3: boolean): FaultDeck {
  const shapes = [...TIP_SHAPES, ...(isV3 ? V3_SHAPES : V1_SHAPES)];
  const nodes = createDeck<(random: Random) => SoakNodeFault>(random, [
    ...NODE_FAULTS,
    (random) => pick(random, shapes),
  ]);
  const marketData = createDeck(random, MARKET_DATA_FAULTS);
  const withTarget = <Fault, Call>(fault: Fault, calls: readonly Call[]) =>
    fault === 'stopped' || (fault as { on?: Call }).on !== undefined || random.chance(0.5)
      ? fault
      : { ...fault, on: pick(random, calls) };

  return {
    node: () => withTarget(nodes()(random), isV3 ? NODE_CALLS_OF_V3 : NODE_CALLS),
    fatal: () =>
      pick<SoakNodeFault>(random, ['stopped', { kind: 'hang' }, { kind: 'status', status: 503 }, { kind: 'reset' }]),
    marketData: () => withTarget(marketData()(random), MARKET_DATA_CALLS),
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
