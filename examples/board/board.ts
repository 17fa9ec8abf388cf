import { setTimeout as wait } from 'node:timers/promises';
import { styleText } from 'node:util';
import { createClient } from 'graphql-ws';
import { graphql } from './gql/gql.ts';
import type { PricesSubscription } from './gql/graphql.ts';

const url = process.argv[2] ?? 'ws://127.0.0.1:4000/graphql';
const rows = 15;
if (!/^(ws|http)s?:\/\//.test(url)) {
  console.error(`${url} is no address of a gateway. An example is ws://127.0.0.1:4000/graphql`);
  process.exit(1);
}

/** The pools of the native coin. `price` is what one whole token 2 costs in native coins. */
const Prices = graphql(`
  subscription Prices {
    prices(tokenIds: "0000000000000000000000000000000000000000000000000000000000000004") {
      beaconHeight
      blockTime
      poolPairs { id price token1PoolValue token2 { symbol tokenId } }
    }
  }
`);
type Prices = PricesSubscription['prices'];

const firstPrices = new Map<string, number>();

function toRow({ id, price, token2 }: Prices['poolPairs'][number]): string {
  const name = (token2.symbol ?? token2.tokenId.slice(0, 8)).padEnd(10);
  if (price === null) return `${name} ${'no price'.padStart(18)}`;
  const first = firstPrices.get(id) ?? price;
  firstPrices.set(id, first);
  const change = `${((price / first - 1) * 100).toFixed(2)} %`.padStart(10);
  return `${name} ${price.toFixed(9).padStart(18)} ${styleText(price < first ? 'red' : 'green', change)}`;
}

function show({ beaconHeight, blockTime, poolPairs }: Prices): void {
  const byLiquidity = poolPairs.toSorted((a, b) => Number(b.token1PoolValue) - Number(a.token1PoolValue));
  console.clear(); // Does nothing if the output is not a terminal.
  console.log([`Beacon height ${beaconHeight}, ${blockTime}`, ...byLiquidity.slice(0, rows).map(toRow)].join('\n'));
}

let wasConnected = false;
const client = createClient({
  url,
  retryAttempts: Number.POSITIVE_INFINITY,
  retryWait: () => wait(1_000),
  shouldRetry: () => wasConnected,
});
client.on('connected', () => (wasConnected = true));
client.on('connecting', (isRetry) => isRetry && console.error('The connection is lost. Connecting again.'));
process.stdout.on('error', () => process.exit(0)); // The program that reads the output has ended.

try {
  for await (const { data, errors } of client.iterate<PricesSubscription>({ query: `${Prices}` })) {
    if (data) show(data.prices);
    else console.error(errors?.[0]?.message);
  }
} catch (problem) {
  const refusal = Array.isArray(problem) ? problem[0].message : undefined;
  console.error(
    refusal ??
      `No gateway responds at ${url}. Start one, or pass the URL of another endpoint, which ends with /graphql`,
  );
}
process.exitCode = 1; // The board goes on until it is stopped.
