import { type BalancerOrder, createBalancer } from './balancer.ts';
import type { Block } from './chain/block.ts';
import { type Chain, createChain } from './chain/chain.ts';
import { createMarketDataHost, type MarketDataBehaviour, type MarketDataControl } from './market-data-host.ts';
import { createNodeHost, type NodeControl } from './node-host.ts';
import { createPushHost, type PushControl } from './push-host.ts';
import { createTokenHost, TOKEN_LIST_PATH, type TokenServiceControl } from './token-host.ts';

/** Options of a sandbox. Two sandboxes with the same `seed` and `startTime` send the same responses, byte for byte. */
export type SandboxHostsOptions = Partial<MarketDataBehaviour> & {
  /** 1 by default. */
  readonly seed?: number | undefined;
  /**
   * The time of the first tip, as a date or in Unix seconds. Each later block is 40 s after the previous one. By default, each
   * block has the current time when it is created.
   */
  readonly startTime?: Date | number;
  /** The version of the exchange that trades: `v1` by default. With `v3`, nobody trades with the pools of V1. */
  readonly exchange?: 'v1' | 'v3' | undefined;
  /** The height at which V3 starts, with `v3`; before the first block by default. */
  readonly v3From?: number;
  /** The beacon height of the first tip; 1,640,000 by default, and 2,150,000 with `v3`. */
  readonly startHeight?: number;
  /** The block interval in milliseconds. By default, and for 0, only `advance` creates blocks. */
  readonly blockMs?: number | undefined;
  /** `127.0.0.1` by default. */
  readonly host?: string;
  /** Number of nodes with the same chain, each with its own faults; 1 by default. */
  readonly nodes?: number;
  /** Puts the first nodes, by default all, behind a load balancer with one URL. */
  readonly balanced?: { readonly nodes?: number; readonly order?: BalancerOrder } | undefined;
  /** The ports to listen on; free ports by default, and always for further nodes. */
  readonly ports?: {
    readonly node?: number;
    readonly push?: number;
    readonly marketData?: number;
    readonly tokens?: number;
  };
  /** Number of pools of the node; by default 54, the whole catalogue. */
  readonly pools?: number | undefined;
  /** Number of liquidity providers of each pool; 6 by default. */
  readonly sharesPerPool?: number;
  /** Maximum number of random trades in a block; 10 by default. Trades of markets that follow their pool come on top. */
  readonly tradesPerBlock?: number;
  /** Number of blocks before the first tip; by default 15,120, which is a week, and with `v3` 2,160, which is a day. */
  readonly history?: number;
  /** The initial blocks of a sandbox with the same seed, time and sizes, so that they are not created again. */
  readonly past?: readonly Block[] | undefined;
  /** Number of stored heights; 10,000 by default, fewer for a very large exchange. When more are created, the oldest are pruned. */
  readonly retention?: number;
  /** Maximum number of concurrent clients of a node; 500 by default. */
  readonly maxClients?: number;
  /** Maximum number of websockets of a node; 200 by default. */
  readonly maxPushClients?: number;
};

/** Nodes, a market-data host and a token service over one simulated chain, reachable over HTTP. */
export type SandboxHosts = {
  readonly nodeUrl: string;
  /** The URLs for a gateway: one for the nodes behind the load balancer, and one for each other node. */
  readonly nodeUrls: readonly string[];
  readonly marketDataUrl: string;
  /** The address of the list of the token service. */
  readonly tokensUrl: string;
  /** The websocket of the first node. */
  readonly pushUrl: string;
  /** The websockets of the nodes, by the positions of `nodeUrls`. That of the load balancer is the first node's. */
  readonly pushUrls: readonly string[];
  /** The simulated chain that both hosts publish. */
  readonly chain: Chain;
  readonly node: NodeControl;
  /** All nodes; `node` is the first. */
  readonly nodes: readonly [NodeControl, ...NodeControl[]];
  /** The websocket of the first node. */
  readonly push: PushControl;
  /** The websockets of all nodes. */
  readonly pushes: readonly [PushControl, ...PushControl[]];
  readonly marketData: MarketDataControl;
  readonly tokenService: TokenServiceControl;
  /** Creates blocks; one by default. */
  advance(blocks?: number): void;
  /** Replaces the tip by another block of the same height, with another hash and other trades. */
  replaceTip(): void;
  /** Stops all hosts and creates no more blocks. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Creates a chain and starts the hosts that publish it. Rejects if a port is in use. */
export async function createSandboxHosts(options: SandboxHostsOptions = {}): Promise<SandboxHosts> {
  const { host = '127.0.0.1', ports = {}, blockMs = 0, startTime } = options;
  const isV3 = options.exchange === 'v3';
  const chain = createChain({
    seed: options.seed ?? 1,
    startHeight: options.startHeight ?? (isV3 ? 2_150_000 : 1_640_000),
    startTime: startTime === undefined ? unixNow() : unixSeconds(startTime),
    clock: startTime === undefined ? unixNow : undefined,
    // Blocks that are older than a day do not follow from each other, but those of V3 can be checked.
    history: options.history ?? (isV3 ? 2_160 : 15_120),
    past: options.past,
    retention: options.retention,
    pools: options.pools,
    sharesPerPool: options.sharesPerPool ?? 6,
    tradesPerBlock: options.tradesPerBlock ?? 10,
    v3From: isV3 ? (options.v3From ?? 0) : Number.POSITIVE_INFINITY,
  });

  const started: { stop(): Promise<void> }[] = [];
  const stopAll = () => Promise.all(started.map((each) => each.stop()));
  async function start<Host extends { stop(): Promise<void> }>(starting: Promise<Host>): Promise<Host> {
    const startedHost = await starting;
    started.push(startedHost);
    return startedHost;
  }

  async function startHosts() {
    const { maxClients = 500, maxPushClients = 200 } = options;
    const startNode = (port = 0) => start(createNodeHost(chain, { host, port }, maxClients));
    const startPush = (port = 0) => start(createPushHost(chain, { host, port }, maxPushClients));
    const nodes: [NodeControl, ...NodeControl[]] = [await startNode(ports.node)];
    const pushes: [PushControl, ...PushControl[]] = [await startPush(ports.push)];
    for (let more = 1; more < (options.nodes ?? 1); more++) {
      nodes.push(await startNode());
      pushes.push(await startPush());
    }

    const { nodes: balanced = nodes.length, order = 'alternate' } = options.balanced ?? { nodes: 0 };
    const balancedUrls = nodes.slice(0, balanced).map(({ url }) => url);
    const balancer = balanced > 0 ? await start(createBalancer(balancedUrls, order, { host, port: 0 })) : undefined;
    const behaviour = {
      unknownTicker: options.unknownTicker ?? '404',
      timestampUnit: options.timestampUnit ?? 'seconds',
      malformedBooks: options.malformedBooks ?? [],
    } as const;
    const marketData = await start(createMarketDataHost(chain, { host, port: ports.marketData ?? 0 }, behaviour));
    const tokenService = await start(createTokenHost(chain.tokens, { host, port: ports.tokens ?? 0 }));
    const urlsBehind = (controls: readonly { readonly url: string }[]) =>
      controls.slice(balanced).map(({ url }) => url);
    return {
      nodes,
      pushes,
      nodeUrls: [...(balancer === undefined ? [] : [balancer.url]), ...urlsBehind(nodes)],
      pushUrls: [...(balancer === undefined ? [] : [pushes[0].url]), ...urlsBehind(pushes)],
      marketData,
      tokenService,
    };
  }

  const hosts = await startHosts().catch(async (error: unknown) => {
    await stopAll();
    throw error;
  });
  const timer = blockMs > 0 ? setInterval(() => chain.advance(1), blockMs).unref() : undefined;

  async function close(): Promise<void> {
    clearInterval(timer);
    await stopAll();
  }
  return {
    ...hosts,
    nodeUrl: hosts.nodes[0].url,
    pushUrl: hosts.pushes[0].url,
    marketDataUrl: hosts.marketData.url,
    tokensUrl: `${hosts.tokenService.url}${TOKEN_LIST_PATH}`,
    chain,
    node: hosts.nodes[0],
    push: hosts.pushes[0],
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
