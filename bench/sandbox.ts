import { createSandbox, type Sandbox, type SandboxOptions } from '../src/sandbox/sandbox.ts';
import { handleCall, reportReady } from './process-control.ts';

// The sandbox has a process of its own, so that its CPU time and memory do not count as those of a server.

/** What a gateway needs to know of the sandbox. */
export type SandboxFacts = {
  readonly nodeUrl: string;
  readonly marketDataUrl: string;
  /** The content of a tokens file. */
  readonly tokens: readonly { readonly id: string; readonly symbol: string | undefined; readonly decimals: number }[];
};

let sandbox: Sandbox | undefined;
let timer: NodeJS.Timeout | undefined;

handleCall('start', async (options: SandboxOptions): Promise<SandboxFacts> => {
  sandbox = await createSandbox(options);
  const { nodeUrl, marketDataUrl, chain } = sandbox;
  const named = chain.tokens.filter(({ symbol }) => symbol !== undefined);
  const tokens = named.map(({ id, symbol, decimals }) => ({ id, symbol, decimals }));
  return { nodeUrl, marketDataUrl, tokens };
});
handleCall('advance', () => sandbox?.advance());
handleCall('tip height', () => sandbox?.chain.tip.height);
handleCall('advance every', (intervalMs: number) => {
  clearInterval(timer);
  if (intervalMs > 0) timer = setInterval(() => sandbox?.advance(), intervalMs);
});
handleCall('calls', () => (sandbox === undefined ? 0 : sandbox.node.calls() + sandbox.marketData.calls()));
reportReady();
