import { setTimeout as sleep } from 'node:timers/promises';
import { createSandboxHosts, type SandboxHosts, type SandboxHostsOptions } from '../src/sandbox/sandbox.ts';
import { handleCall, reportReady } from './process-control.ts';

// The sandbox has a process of its own, so that its CPU time and memory do not count as those of a server.

/** What a gateway needs to know of the sandbox. */
export type SandboxFacts = {
  readonly nodeUrl: string;
  /** The websocket on which the node pushes new blocks. */
  readonly pushUrl: string;
  readonly marketDataUrl: string;
  /** The content of a tokens file. */
  readonly tokens: readonly { readonly id: string; readonly symbol: string | undefined; readonly decimals: number }[];
};

let sandbox: SandboxHosts | undefined;
let timer: NodeJS.Timeout | undefined;

handleCall('start', async (options: SandboxHostsOptions): Promise<SandboxFacts> => {
  sandbox = await createSandboxHosts(options);
  const { nodeUrl, pushUrl, marketDataUrl, chain } = sandbox;
  const named = chain.tokens.filter(({ symbol }) => symbol !== undefined);
  const tokens = named.map(({ id, symbol, decimals }) => ({ id, symbol, decimals }));
  return { nodeUrl, pushUrl, marketDataUrl, tokens };
});
handleCall('advance', () => sandbox?.advance());
/** Returns when the block existed and its frame was sent, in milliseconds since 1970. */
handleCall('advance now', () => {
  sandbox?.advance();
  return performance.timeOrigin + performance.now();
});
handleCall('until subscribed', async () => {
  while (sandbox?.push.subscribers() === 0) await sleep(10);
});
handleCall('advance after', (waitMs: number) => void setTimeout(() => sandbox?.advance(), waitMs));
handleCall('tip height', () => sandbox?.chain.tip.height);
handleCall('advance every', (intervalMs: number) => {
  clearInterval(timer);
  if (intervalMs > 0) timer = setInterval(() => sandbox?.advance(), intervalMs);
});
handleCall('calls', () => (sandbox === undefined ? 0 : sandbox.node.calls() + sandbox.marketData.calls()));
reportReady();
