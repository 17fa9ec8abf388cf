#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { exchangeOf, flag, switchFlag, usageOf } from './flags.ts';
import { createSandboxHosts, type SandboxHosts, type SandboxHostsOptions } from './sandbox.ts';

const FLAGS = {
  'node-port': flag('<port>', '9334', 'port of the node'),
  nodes: flag('<number>', '1', 'number of nodes with the same chain; the others use free ports'),
  'push-port': flag('<port>', '9335', "port of the node's websocket, which pushes new blocks"),
  'one-url': switchFlag('puts all nodes behind one URL, as a load balancer does: each call goes to the next node'),
  'market-data-port': flag('<port>', '9333', 'port of the market-data host'),
  'tokens-port': flag('<port>', '9336', 'port of the token service'),
  host: flag('<address>', '127.0.0.1', 'address to listen on'),
  seed: flag('<number>', '1', 'seed of the simulated chain'),
  'block-ms': flag('<number>', '4000', 'block interval in milliseconds; 0 for no new blocks'),
  exchange: flag('<v1|v3>', 'v1', 'version of the exchange that trades'),
  help: switchFlag('prints this text'),
};
const USAGE = usageOf('sandbox', FLAGS);

const PORT_FLAGS = '--node-port, --push-port, --market-data-port and --tokens-port';

const settings = settingsFrom(process.argv.slice(2));
try {
  const sandbox = await createSandboxHosts(settings);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void sandbox.close().then(() => process.exit(0)));
  }
  process.stdout.write(`${introduction(sandbox)}\n`);
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exit(1);
}

function settingsFrom(args: string[]): SandboxHostsOptions {
  try {
    const { values } = parseArgs({ args, options: FLAGS });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    return {
      host: values.host,
      seed: integer('--seed', values.seed, Number.MAX_SAFE_INTEGER),
      nodes: integer('--nodes', values.nodes, 100, 1),
      balanced: values['one-url'] ? { order: 'alternate' } : undefined,
      blockMs: integer('--block-ms', values['block-ms'], 2 ** 31 - 1),
      exchange: exchangeOf(values.exchange),
      ports: {
        node: integer('--node-port', values['node-port'], 65_535),
        push: integer('--push-port', values['push-port'], 65_535),
        marketData: integer('--market-data-port', values['market-data-port'], 65_535),
        tokens: integer('--tokens-port', values['tokens-port'], 65_535),
      },
    };
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}

function integer(flag: string, text: string, greatest: number, least = 0): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > greatest || value < least)
    throw new Error(`${flag} must be an integer from ${least} to ${greatest}: ${text}`);
  return value;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') return `Port ${port} is taken; choose others with ${PORT_FLAGS}.`;
  return error.message;
}

function introduction({ nodeUrls, pushUrls, nodes, marketDataUrl, tokensUrl, chain }: SandboxHosts): string {
  const get = (call: string) => `curl -s '${marketDataUrl}/api/v1/public/market-data/${call}'`;
  const rpc = (method: string, params: unknown) => {
    const body = JSON.stringify({ id: 1, jsonrpc: '1.0', method, params });
    return `curl -s -H 'Content-Type: application/json' -d '${body}' ${nodeUrls[0]}`;
  };
  const { height } = chain.tip;
  const v3 = [
    rpc('pdexv3_getState', [{ BeaconHeight: height, Filter: { Key: 'PoolPairs', Verbosity: 4 } }]),
    rpc('retrievebeaconblockbyheight', [height]),
  ];
  const states = [rpc('getpdestate', [{ BeaconHeight: height }]), ...(chain.v3Pools.length > 0 ? v3 : [])];
  const settings = {
    FULLNODE_URL: nodeUrls.join(','),
    FULLNODE_WS_URL: pushUrls.join(','),
    MARKET_DATA_URL: marketDataUrl,
    TOKENS_URL: tokensUrl,
  };
  const variables = Object.entries(settings).map(([name, value]) => `${name}=${value}`);

  return `${nodes.length === 1 ? 'A node is' : 'Nodes are'} simulated on ${nodeUrls.join(', ')}, a market-data host on ${marketDataUrl}.

${get('pairs')}
${get('tickers')}
${get(`orderbook?ticker_id=${chain.markets[0]?.tickerId}`)}
${rpc('getblockchaininfo', [])}
${rpc('getbeaconbeststatedetail', [''])}
${[...states, ''].join('\n')}curl -s '${tokensUrl}'

New blocks are pushed on ${pushUrls.join(', ')}.

To start a gateway that reads from it:
${variables.join(' ')} npm start
`;
}
