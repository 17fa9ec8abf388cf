import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';

/** The upstreams of the process, and after each message the height of the block that it has created. */
export type ChainMessage = { readonly fullnodeUrl: string; readonly marketDataUrl: string } | number;

const sandbox = await createSandboxHosts({ history: 5 });

process.on('message', () => {
  sandbox.advance();
  process.send?.(sandbox.chain.tip.height satisfies ChainMessage);
});
process.send?.({ fullnodeUrl: sandbox.nodeUrl, marketDataUrl: sandbox.marketDataUrl } satisfies ChainMessage);
