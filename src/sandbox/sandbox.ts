import { type Balancer, type BalancerOrder, createBalancer } from './balancer.ts';
import type { Block } from './chain/block.ts';
import { type Chain, createChain } from './chain/chain.ts';
import { createMarketDataHost, type MarketDataBehaviour, type MarketDataControl } from './market-data-host.ts';
import { createNodeHost, type NodeControl } from './node-host.ts';

/** What a sandbox is made from. With a `seed` and a `startTime` two sandboxes give the same answers, byte for byte. */
export type SandboxOptions = Partial<MarketDataBehaviour> & {
  /** 1 by default. */
  readonly seed?: number;
  /**
   * The time of the first tip, as a date or in Unix seconds; each later block is 40 s after the one before, whenever it is
   * made. By default the first tip has the time of the start, and each later block the time at which it is made.
   */
  readonly startTime?: Date | number;
  /** The beacon height of the first tip; 1,640,000 by default. */
  readonly startHeight?: number;
  /** A block is made each time so many milliseconds have passed; by default, and for 0, only by `advance`. */
  readonly blockMs?: number | undefined;
  /** `127.0.0.1` by default. */
  readonly host?: string;
  /** How many nodes tell the same chain, each with faults of its own; 1 by default. */
  readonly nodes?: number;
  /** Puts the first nodes, all by default, behind one URL: each call is answered by another of them. */
  readonly balanced?: { readonly nodes?: number; readonly order?: BalancerOrder } | undefined;
  /** Where the hosts listen; free ports by default, and always for a second node and those after it. */
  readonly ports?: { readonly node?: number; readonly marketData?: number };
  /** How many pools the node has; 54 by default. */
  readonly pools?: number;
  /** How many providers each pool has; 6 by default. */
  readonly sharesPerPool?: number;
  /** The most trades a block begins with; 10 by default. */
  readonly tradesPerBlock?: number;
  /** How many blocks lie behind the first tip; 2,160 by default, which is a day. */
  readonly history?: number;
  /** The blocks that a sandbox with the same seed, time and sizes began with, which are not made again. */
  readonly past?: readonly Block[] | undefined;
  /** How many heights are kept; by default 10,000, or fewer where the exchange is very large. */
  readonly retention?: number;
  /** How many clients the node serves at once; 500 by default. */
  readonly maxClients?: number;
};

/** A node and a market-data host over one simulated chain, reachable over HTTP. */
export type Sandbox = {
  readonly nodeUrl: string;
  /** What a gateway is pointed at: one URL for the nodes behind a load balancer, and one for each other node. */
  readonly nodeUrls: readonly string[];
  readonly marketDataUrl: string;
  /** The truth behind both hosts. */
  readonly chain: Chain;
  readonly node: NodeControl;
  /** All nodes, the one above first. */
  readonly nodes: readonly [NodeControl, ...NodeControl[]];
  readonly marketData: MarketDataControl;
  /** Makes blocks; one by default. */
  advance(blocks?: number): void;
  /** Puts another block, with another hash and other trades, in the place of the tip. */
  replaceTip(): void;
  /** Stops both hosts and the making of blocks. */
  close(): Promise<void>;
  /** Closes, at the end of an `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** Makes a chain and starts both hosts on it. Rejects when a port is taken. */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = '127.0.0.1', ports = {}, blockMs = 0, startTime } = options;
  const chain = createChain({
    seed: options.seed ?? 1,
    startHeight: options.startHeight ?? 1_640_000,
    startTime: startTime === undefined ? unixNow() : unixSeconds(startTime),
    clock: startTime === undefined ? unixNow : undefined,
    history: options.history ?? 2_160,
    past: options.past,
    retention: options.retention,
    pools: options.pools,
    sharesPerPool: options.sharesPerPool ?? 6,
    tradesPerBlock: options.tradesPerBlock ?? 10,
  });

  const { maxClients = 500 } = options;
  const node = await createNodeHost(chain, { host, port: ports.node ?? 0 }, maxClients);
  const nodes: [NodeControl, ...NodeControl[]] = [node];
  for (let more = 1; more < (options.nodes ?? 1); more++) {
    nodes.push(await createNodeHost(chain, { host, port: 0 }, maxClients));
  }
  const { nodes: balanced = nodes.length, order = 'alternate' } = options.balanced ?? { nodes: 0 };
  const urls = nodes.map(({ url }) => url);
  const balancer: Balancer | undefined =
    balanced > 0 ? await createBalancer(urls.slice(0, balanced), order, { host, port: 0 }) : undefined;
  const stopNodes = () => Promise.all([balancer?.stop(), ...nodes.map((each) => each.stop())]);
  const marketData = await createMarketDataHost(
    chain,
    { host, port: ports.marketData ?? 0 },
    {
      unknownTicker: options.unknownTicker ?? '404',
      timestampUnit: options.timestampUnit ?? 'seconds',
      malformedBooks: options.malformedBooks ?? [],
    },
  ).catch(async (error: unknown) => {
    await stopNodes();
    throw error;
  });
  const timer = blockMs > 0 ? setInterval(() => chain.advance(1), blockMs).unref() : undefined;

  async function close(): Promise<void> {
    clearInterval(timer);
    await Promise.all([stopNodes(), marketData.stop()]);
  }
  return {
    nodeUrl: node.url,
    nodeUrls: [...(balancer === undefined ? [] : [balancer.url]), ...urls.slice(balanced)],
    marketDataUrl: marketData.url,
    chain,
    node,
    nodes,
    marketData,
    advance: (blocks = 1) => chain.advance(blocks),
    replaceTip: () => chain.replaceTip(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function unixNow(): number {
  return Math.floor(Date.now() / 1_000);
}

function unixSeconds(time: Date | number): number {
  return Math.floor(typeof time === 'number' ? time : time.getTime() / 1_000);
}
