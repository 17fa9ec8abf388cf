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
import { ConfigError } from '../settings/kinds.ts';
import { unknownOption } from '../settings/read-options.ts';
import { MAX_INT32 } from '../settings/readers.ts';

/** The options of a sandbox. */
export type SandboxOptions = {
  /** Seed of the simulated chain, a whole number; 1 by default. The same seed makes the same tokens, pools and trades. */
  readonly seed?: number | undefined;
  /** Block interval in milliseconds. By default, no block follows the first ones. */
  readonly blockMs?: number | undefined;
  /** Number of pools, to which V3 adds a few; 54 by default. The prices of further ones agree less with each other. */
  readonly pools?: number | undefined;
  /** The version of the exchange that trades: `v1` by default. */
  readonly exchange?: (typeof VERSIONS)[number] | undefined;
};

const VERSIONS = ['v1', 'v3'] as const;

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

/**
 * Starts a sandbox, for tests of code that uses a gateway. It has a week of blocks, or with V3 a day, the newest from now.
 *
 * @throws ConfigError that lists everything that is wrong with the options
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const problems = Object.entries(options).flatMap(([name, value]) => problemsOf(name, value));
  if (problems.length > 0) throw new ConfigError(problems);
  const { seed, blockMs, pools, exchange } = options;
  // Its code is loaded only here.
  const { createSandboxHosts } = await import('../sandbox/sandbox.ts');
  const sandbox = await createSandboxHosts({ seed, blockMs, pools, exchange });
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

/** The maximum of each option that is a number. */
const MAXIMA: Readonly<Record<Exclude<keyof SandboxOptions, 'exchange'>, number>> = {
  seed: Number.MAX_SAFE_INTEGER,
  blockMs: MAX_INT32,
  pools: 100_000,
};

function problemsOf(name: string, value: unknown): string[] {
  const max = new Map(Object.entries(MAXIMA)).get(name);
  if (name === 'exchange')
    return value === undefined || VERSIONS.some((version) => version === value) ? [] : ['exchange: expected v1 or v3'];
  if (max === undefined) return [unknownOption(name, [...Object.keys(MAXIMA), 'exchange'])];
  const isValid = value === undefined || (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max);
  return isValid ? [] : [`${name}: expected a whole number from 0 to ${max}`];
}
