import { createSandbox, type Sandbox, type SandboxOptions } from '../src/sandbox/sandbox.ts';
import { answerTo, tellReady } from './tell.ts';

// The two upstreams, in a process of their own: what they cost must not be counted as the gateway's.

/** Where the upstreams are, and what is in them. */
export type SandboxFacts = {
  readonly nodeUrl: string;
  readonly marketDataUrl: string;
  /** As a tokens file has it. */
  readonly tokens: readonly { readonly id: string; readonly symbol: string | undefined; readonly decimals: number }[];
  readonly tipHeight: number;
};

let sandbox: Sandbox | undefined;
let timer: NodeJS.Timeout | undefined;

answerTo('start', async (options: SandboxOptions): Promise<SandboxFacts> => {
  sandbox = await createSandbox(options);
  const { nodeUrl, marketDataUrl, chain } = sandbox;
  const named = chain.tokens.filter(({ symbol }) => symbol !== undefined);
  const tokens = named.map(({ id, symbol, decimals }) => ({ id, symbol, decimals }));
  return { nodeUrl, marketDataUrl, tokens, tipHeight: chain.tip.height };
});
answerTo('advance', () => sandbox?.advance());
answerTo('tip height', () => sandbox?.chain.tip.height);
answerTo('advance every', (everyMs: number) => {
  clearInterval(timer);
  if (everyMs > 0) timer = setInterval(() => sandbox?.advance(), everyMs);
});
answerTo('calls', () => (sandbox === undefined ? 0 : sandbox.node.calls() + sandbox.marketData.calls()));
tellReady();
