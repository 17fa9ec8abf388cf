import type {
  Faults,
  MarketDataCall,
  MarketDataFault,
  NodeCall,
  NodeFault,
  PushCall,
  PushFault,
  TokenCall,
  TokenServiceFault,
} from '../sandbox/faults.ts';
import { createSandbox as createHosts } from '../sandbox/sandbox.ts';

/** The options of a sandbox. */
export type SandboxOptions = {
  /** Seed of the simulated chain, a whole number; 1 by default. The same seed makes the same tokens, pools and trades. */
  readonly seed?: number | undefined;
  /** Block interval in milliseconds. By default, no block follows the first ones. */
  readonly blockMs?: number | undefined;
  /** Number of pools; 54 by default. */
  readonly pools?: number | undefined;
};

/** A simulated node, market-data host and token service, on free ports of 127.0.0.1. */
export type Sandbox = {
  /** The option `fullnodeUrl` of a gateway. */
  readonly fullnodeUrl: string;
  /** The option `marketDataUrl` of a gateway. */
  readonly marketDataUrl: string;
  /** The option `fullnodeWsUrl` of a gateway: the websocket on which the node pushes new blocks. */
  readonly fullnodeWsUrl: string;
  /** The option `tokensUrl` of a gateway. */
  readonly tokensUrl: string;
  /** Makes the hosts fail: `faults.node.set({ kind: 'status', status: 503 })` fails all calls until it is cleared. */
  readonly faults: {
    readonly node: Faults<NodeFault, NodeCall>;
    readonly marketData: Faults<MarketDataFault, MarketDataCall>;
    readonly push: Faults<PushFault, PushCall>;
    readonly tokens: Faults<TokenServiceFault, TokenCall>;
  };
  /** Stops all hosts. */
  close(): Promise<void>;
};

/** Starts a sandbox, for tests of code that uses a gateway. It has a day of blocks, the newest from now. */
export async function createSandbox({ seed, blockMs, pools }: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await createHosts({ seed, blockMs, pools });
  return {
    fullnodeUrl: sandbox.nodeUrl,
    marketDataUrl: sandbox.marketDataUrl,
    fullnodeWsUrl: sandbox.pushUrl,
    tokensUrl: sandbox.tokensUrl,
    faults: {
      node: sandbox.node.faults,
      marketData: sandbox.marketData.faults,
      push: sandbox.push.faults,
      tokens: sandbox.tokenService.faults,
    },
    close: sandbox.close,
  };
}
