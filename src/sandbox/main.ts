#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { createSandbox, type Sandbox } from './sandbox.ts';

const USAGE = `Usage: npm run sandbox -- [flags]

  --node-port <port>         port of the node (9334)
  --nodes <number>           number of nodes with the same chain; the others use free ports (1)
  --push-port <port>         port of the node's websocket, which pushes new blocks (9335)
  --one-url                  puts all nodes behind one URL, as a load balancer does: each call goes to the next node
  --market-data-port <port>  port of the market-data host (9333)
  --tokens-port <port>       port of the token service (9336)
  --host <address>           address to listen on (127.0.0.1)
  --seed <number>            seed of the simulated chain (1)
  --block-ms <number>        block interval in milliseconds; 0 for no new blocks (4000)
  --exchange <v1|v3>         version of the exchange that trades (v1)
  --help                     prints this text`;

const PORT_FLAGS = '--node-port, --push-port, --market-data-port and --tokens-port';

type Settings = {
  seed: number;
  nodes: number;
  balanced: { order: 'alternate' } | undefined;
  host: string;
  blockMs: number;
  exchange: 'v1' | 'v3';
  ports: { node: number; push: number; marketData: number; tokens: number };
};

const settings = settingsFrom(process.argv.slice(2));
try {
  const sandbox = await createSandbox(settings);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void sandbox.close().then(() => process.exit(0)));
  }
  process.stdout.write(`${introduction(sandbox)}\n`);
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exit(1);
}

function settingsFrom(args: string[]): Settings {
  try {
    const options = {
      'node-port': { type: 'string', default: '9334' },
      'push-port': { type: 'string', default: '9335' },
      'tokens-port': { type: 'string', default: '9336' },
      'market-data-port': { type: 'string', default: '9333' },
      host: { type: 'string', default: '127.0.0.1' },
      seed: { type: 'string', default: '1' },
      nodes: { type: 'string', default: '1' },
      'one-url': { type: 'boolean', default: false },
      'block-ms': { type: 'string', default: '4000' },
      exchange: { type: 'string', default: 'v1' },
      help: { type: 'boolean', default: false },
    } as const;
    const { values } = parseArgs({ args, options });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      process.exit(0);
    }
    return {
      host: values.host,
      seed: integer('--seed', values.seed, Number.MAX_SAFE_INTEGER),
      nodes: integer('--nodes', values.nodes, 100, 1),
      balanced: values['one-url'] ? { order: 'alternate' } : undefined,
      blockMs: integer('--block-ms', values['block-ms'], 2 ** 31 - 1),
      exchange: versionOf(values.exchange),
      ports: {
        node: integer('--node-port', values['node-port'], 65_535),
        push: integer('--push-port', values['push-port'], 65_535),
        marketData: integer('--market-data-port', values['market-data-port'], 65_535),
        tokens: integer('--tokens-port', values['tokens-port'], 65_535),
      },
    };
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n\n${USAGE}\n`);
    process.exit(2);
  }
}

function versionOf(text: string): 'v1' | 'v3' {
  if (text !== 'v1' && text !== 'v3') throw new Error(`--exchange must be v1 or v3: ${text}`);
  return text;
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

function introduction({ nodeUrls, pushUrls, nodes, marketDataUrl, tokensUrl, chain }: Sandbox): string {
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
  const states = [rpc('getpdestate', [{ BeaconHeight: height }]), ...(chain.exchangePools.length > 0 ? v3 : [])];
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
