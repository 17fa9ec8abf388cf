import type { Operation } from './graphql-client.ts';
import type { Transport } from './load/connection.ts';
import { textFrame } from './load/websocket.ts';
import type { Snapshot } from './snapshot.ts';

const POOL = `fragment Pool on PoolPair {
  id token1 { tokenId symbol decimals } token2 { tokenId symbol decimals }
  token1PoolValue token2PoolValue price inversePrice
}`;

const ONE_POOL = `query OnePool($token1Id: TokenId!, $token2Id: TokenId!) {
  poolPair(token1Id: $token1Id, token2Id: $token2Id) { ...Pool }
}
${POOL}`;

const PAGE = `query Page($first: Int!, $after: String) {
  poolPairs(first: $first, after: $after) { totalCount nodes { ...Pool } pageInfo { hasNextPage endCursor } }
}
${POOL}`;

const PRICES = `subscription Prices($poolPairs: [PoolPairKey!]!) {
  prices(poolPairs: $poolPairs) { beaconHeight observedAt poolPairs { id price inversePrice } }
}`;

/** The query of the pool at an index of the snapshot; `isReversed` names its tokens in the other order. */
export function onePool({ pools }: Snapshot, index: number, isReversed = false): Operation {
  const pool = pools[index % pools.length];
  const [token1Id, token2Id] = [pool?.token1.tokenId, pool?.token2.tokenId];
  const variables = isReversed ? { token1Id: token2Id, token2Id: token1Id } : { token1Id, token2Id };
  return { query: ONE_POOL, variables };
}

/** The number of pools on a page. */
const PAGE_SIZE = 100;

/** The query of the 100 pools after an index of the snapshot; -1 is before the first. */
export function pageAfter({ pools }: Snapshot, index: number): Operation {
  return { query: PAGE, variables: { first: PAGE_SIZE, after: pools[index]?.cursor ?? null } };
}

/** Maximum size of a page. */
const MAX_PAGE_SIZE = 500;

/** Fields without fractions, whose last digit Tailcall changes. */
const AMOUNTS = `fragment Amounts on PoolPair {
  id token1 { tokenId symbol decimals } token2 { tokenId symbol decimals } token1PoolValue token2PoolValue
}`;

/** The query of the amounts of all pools, page by page, without variables. Its aliases begin with a text. */
export function everyPool({ pools }: Snapshot, alias: string): Operation {
  const pages = Array.from({ length: Math.ceil(pools.length / MAX_PAGE_SIZE) }, (_, page) => {
    const after = JSON.stringify(pools[page * MAX_PAGE_SIZE - 1]?.cursor ?? null);
    return `${alias}x${page}: poolPairs(first: ${MAX_PAGE_SIZE}, after: ${after}) { nodes { ...Amounts } }`;
  });
  return { query: `{ ${pages.join(' ')} }\n${AMOUNTS}` };
}

/** The number of pools that a subscriber follows. */
export const POOLS_PER_SUBSCRIBER = 50;

/** The subscription to the prices of 50 pools, from an index of the snapshot on. After the last comes the first. */
export function pricesFrom({ pools }: Snapshot, start: number): Operation {
  const poolPairs = Array.from({ length: Math.min(POOLS_PER_SUBSCRIBER, pools.length) }, (_, index) => {
    const pool = pools[(start + index) % pools.length];
    return { token1Id: pool?.token1.tokenId, token2Id: pool?.token2.tokenId };
  });
  return { query: PRICES, variables: { poolPairs } };
}

const QUOTE = `query Quote($sellTokenId: TokenId!, $buyTokenId: TokenId!, $sellAmount: BigInt, $buyAmount: BigInt) {
  quote(sellTokenId: $sellTokenId, buyTokenId: $buyTokenId, sellAmount: $sellAmount, buyAmount: $buyAmount, maxHops: 3) {
    beaconHeight sellAmount buyAmount minimumReceived price priceImpactPercent
    route { sellToken { symbol } buyToken { symbol } sellAmount buyAmount priceImpactPercent poolPair { id } }
  }
}`;

/** The query of a quote with at most three hops. */
export function quoteOf(variables: Operation['variables'] & object): Operation {
  return { query: QUOTE, variables };
}

/** Encodes a POST. */
export function toPost(operation: Operation): Buffer {
  const body = Buffer.from(JSON.stringify(operation));
  const head = [
    'POST /graphql HTTP/1.1',
    'host: 127.0.0.1',
    'accept: application/json',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

/** Encodes an operation for a transport. */
export function toRequest(operation: Operation, transport: Transport): Buffer {
  if (transport === 'http') return toPost(operation);
  // All can have the same id, because each is sent when the previous one has completed.
  return textFrame(JSON.stringify({ id: '1', type: 'subscribe', payload: operation }));
}

/** The path of a GET. */
export function toPath({ query, variables = {} }: Operation): string {
  return `/graphql?${new URLSearchParams({ query, variables: JSON.stringify(variables) })}`;
}

/** The headers of a GET. Apollo Server requires the second. */
export const GET_HEADERS = { accept: 'application/json', 'apollo-require-preflight': 'true' };

/** Encodes a GET with `If-None-Match`. */
export function toConditionalGet(operation: Operation, etag: string): Buffer {
  const headers = Object.entries({ host: '127.0.0.1', ...GET_HEADERS, 'if-none-match': etag });
  const head = [`GET ${toPath(operation)} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n`);
}
