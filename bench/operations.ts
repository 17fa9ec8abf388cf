import type { Transport } from './load/connection.ts';
import { textFrame } from './load/websocket.ts';
import type { Snapshot } from './snapshot.ts';

/** One GraphQL operation, as the body of a request has it. */
export type Operation = {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
};

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

/** Asks for the pool in that place of the snapshot; `isTurned` names its tokens in the other order. */
export function onePool({ pools }: Snapshot, place: number, isTurned = false): Operation {
  const pool = pools[place % pools.length];
  const [token1Id, token2Id] = [pool?.token1.tokenId, pool?.token2.tokenId];
  const variables = isTurned ? { token1Id: token2Id, token2Id: token1Id } : { token1Id, token2Id };
  return { query: ONE_POOL, variables };
}

/** How many pools a page has. */
export const PAGE_SIZE = 100;

/** Asks for the 100 pools behind that place of the snapshot; -1 is before the first. */
export function pageBehind({ pools }: Snapshot, place: number): Operation {
  return { query: PAGE, variables: { first: PAGE_SIZE, after: pools[place]?.cursor ?? null } };
}

/** How many pools a subscriber follows. */
export const POOLS_FOLLOWED = 50;

/** Follows the prices of 50 pools, from that place of the snapshot on and round its end. */
export function pricesFrom({ pools }: Snapshot, place: number): Operation {
  const poolPairs = Array.from({ length: Math.min(POOLS_FOLLOWED, pools.length) }, (_, index) => {
    const pool = pools[(place + index) % pools.length];
    return { token1Id: pool?.token1.tokenId, token2Id: pool?.token2.tokenId };
  });
  return { query: PRICES, variables: { poolPairs } };
}

/** A POST as it goes over the wire. */
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

/** An operation as it goes over the wire of a transport. */
export function toRequest(operation: Operation, transport: Transport): Buffer {
  if (transport === 'http') return toPost(operation);
  // An operation that has completed gives its id back.
  return textFrame(JSON.stringify({ id: '1', type: 'subscribe', payload: operation }));
}

/** The path of a GET. */
export function toPath({ query, variables = {} }: Operation): string {
  return `/graphql?${new URLSearchParams({ query, variables: JSON.stringify(variables) })}`;
}

/** What a GET carries beside its path; Apollo Server takes none without the second. */
export const GET_HEADERS = { accept: 'application/json', 'apollo-require-preflight': 'true' };

/** A GET by someone who has the answer already, as it goes over the wire. */
export function toConditionalGet(operation: Operation, etag: string): Buffer {
  const headers = Object.entries({ host: '127.0.0.1', ...GET_HEADERS, 'if-none-match': etag });
  const head = [`GET ${toPath(operation)} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n`);
}
