import { getIntrospectionQuery } from 'graphql';
import { BTC, PRV } from './tokens.ts';
import type { Operation } from './transports.ts';

/** So many texts, one after another. */
export function repeat(count: number, text: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => text(n)).join(' ');
}

/** Selections in one another, so many times over, with the last one given. */
export function nest(count: number, fields: string, last: string): string {
  const names = Array(count).fill(fields).join(' ').split(' ');
  return `${names.map((name) => `${name} { `).join('')}${last}${' }'.repeat(names.length)}`;
}

/** Every field of the types that dashboards show, with what clients add by themselves. */
const TOKEN = '__typename id tokenId symbol decimals';
export const POOL = `__typename id key beaconHeight token1PoolValue token2PoolValue price exactPrice inversePrice spotPrice
  token1 { ${TOKEN} } token2 { ${TOKEN} }`;
const BOOK = `tickerId message timestamp observedAt bestBid bestAsk midPrice spread
  quality { wasSorted isCrossed entriesMerged entriesDropped timestampUnit }
  bids { price quantity cumulativeQuantity } asks { price quantity cumulativeQuantity }`;
const LEVEL = 'price poolQuantity bookQuantity quantity cumulativeQuantity cumulativeTotal';

const INTROSPECTION = getIntrospectionQuery({
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
  typeDepth: 9,
});

/** Operations that an honest client of an ordinary exchange sends. `tip` is the current height. */
export const HONEST: Readonly<Record<string, (tip: number) => Operation>> = {
  'fragments that multiply, and select one field': () => ({
    query: `{ ...F0 } ${repeat(12, (n) => `fragment F${n} on Query { ...F${n + 1} ... on Query { ...F${n + 1} } }`)}
      fragment F12 on Query { beaconHeight }`,
  }),
  'fragments that multiply side by side, and select one field': () => ({
    query: `{ ...F0 } ${repeat(40, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F40 on Query { beaconHeight }`,
  }),
  '40 aliased pools': () => ({
    query: `{ ${repeat(40, (n) => `a${n}: poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { ${POOL} pairs { id } }`)} }`,
  }),
  '40 aliased pools, each at 4 earlier heights': (tip) => ({
    query: `{ ${repeat(160, (n) => `a${n}: poolPair(token1Id: "${PRV}", token2Id: "${BTC}", at: ${tip - 5 - (n % 4)}) { ${POOL} }`)} }`,
  }),
  'a pool at 64 earlier heights': (tip) => ({
    query: `{ ${repeat(64, (n) => `a${n}: poolPair(token1Id: "${PRV}", token2Id: "${BTC}", at: ${tip - 1 - n}) { ${POOL} }`)} }`,
  }),
  'a page of 300, with edges and nodes': () => ({
    query: `{ poolPairs(first: 300) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { ${POOL} } } nodes { ${POOL} } } }`,
  }),
  'the largest page, from variables': () => ({
    query: `query ($first: Int) { poolPairs(first: $first) { nodes { ${POOL} pairs { id } } } }`,
    variables: { first: 500 },
  }),
  'a pool, its pairs, their pools, and their pairs': () => ({
    query: '{ poolPairs(first: 1) { nodes { pairs { poolPair { pairs { id } } } } } }',
  }),
  'all pairs with ticker, order book and pool': () => ({
    query: `{ pairs { __typename id tickerId baseId base targetId target poolId baseToken { ${TOKEN} } targetToken { ${TOKEN} }
      ticker { __typename id lastPrice baseVolume targetVolume } orderBook(depth: 100) { ${BOOK} } poolPair { ${POOL} } } }`,
  }),
  'all pairs with their ladders and divergences': () => ({
    query: `{ pairs { id divergence { poolPrice lastPrice bookMidPrice lastPercent bookPercent maxPercent }
      depthLadder { midPrice bids { ${LEVEL} } asks { ${LEVEL} } } } }`,
  }),
  'the pairs that differ most, with their grouped books': () => ({
    query: `{ divergentPairs(minPercent: 0, first: 100) { id divergence { maxPercent } orderBook(depth: 40, groupBy: "0.001") { ${BOOK} } } }`,
  }),
  'what moves the prices of a hundred pools': () => ({
    query: `{ poolPairs(first: 100) { nodes { id depth(percents: [${repeat(40, (n) => String(n * 2.4 + 0.1234567891234))}]) { percent upToken1 upToken2 downToken2 downToken1 } } } }`,
  }),
  'all of one order book': () => ({ query: `{ orderBook(tickerId: "pBTC_PRV", depth: 0) { ${BOOK} } }` }),
  'the chain, every token and the service': () => ({
    query: `{ chainInfo { chainName bestBlocks { chainId height hash time } } tokens { ${TOKEN} } service { version limits { maxDepth } } }`,
  }),
  'the largest introspection query': () => ({ query: INTROSPECTION }),
  'many types by name': () => ({
    query: `{ ${repeat(30, (n) => `a${n}: __type(name: "PoolPair") { name fields { name type { name kind ofType { name } } } }`)} }`,
  }),
  'a dear operation that is not selected': () => ({
    query: `query Cheap { beaconHeight } query Dear { ${repeat(100, (n) => `a${n}: poolPairs(first: 500) { nodes { id } }`)} }`,
    operationName: 'Cheap',
  }),
  'heights of an operation that is not selected': () => ({
    query: `query Cheap { beaconHeight } query Dear { ${repeat(65, (n) => `a${n}: node(id: "PoolPair:x@${n + 1}") { id }`)} }`,
    operationName: 'Cheap',
  }),
  'a dear field that is left out': () => ({
    query: `query ($all: Boolean!) { beaconHeight ...All @include(if: $all) }
      fragment All on Query { ${repeat(50, (n) => `a${n}: poolPairs(first: 500) { nodes { id } }`)} }`,
    variables: { all: false },
  }),
};

const HEIGHTS = Array.from({ length: 65 }, (_, n) => n + 1);
const POOL_ID = `PoolPair:${PRV}-${BTC}`;

function cursorAt(height: number): string {
  return Buffer.from(`${height}:AAAAAAAAAAA:0:${PRV}-${BTC}:`).toString('base64url');
}

/** A document that is honest or not by its variables alone. */
export const PAGED = `query ($first: Int!) { poolPairs(first: $first) { nodes { ${nest(3, 'pairs poolPair', 'id')} } } }`;

/** Operations that nobody sends who means well. */
export const ABUSIVE: Readonly<Record<string, Operation>> = {
  'thousands of aliases': { query: `{ ${repeat(1_500, (n) => `a${n}: chainInfo { id }`)} }` },
  'thousands of aliases of a scalar': { query: `{ ${repeat(3_000, (n) => `a${n}: beaconHeight`)} }` },
  'more aliases than tokens': { query: `{ ${repeat(9_000, (n) => `a${n}: beaconHeight`)} }` },
  'aliases of a scalar in a list': {
    query: `{ poolPairs(first: 500) { nodes { ${repeat(900, (n) => `a${n}: price`)} } } }`,
  },
  'aliases of __typename in a list': {
    query: `{ poolPairs(first: 500) { nodes { ${repeat(900, (n) => `a${n}: __typename`)} } } }`,
  },
  'thousands of aliases in inline fragments': { query: `{ ${repeat(1_500, (n) => `... { a${n}: beaconHeight }`)} }` },
  'aliases of large pages': { query: `{ ${repeat(60, (n) => `a${n}: poolPairs(first: 500) { nodes { id } }`)} }` },
  'aliases of empty pages': {
    query: `{ ${repeat(300, (n) => `a${n}: poolPairs(first: 0, filter: {}) { totalCount }`)} }`,
  },
  'a page below 0 that pays for others': {
    query: `{ credit: poolPairs(first: -2000000000) { totalCount } ${repeat(60, (n) => `a${n}: poolPairs(first: 500) { nodes { id } }`)} }`,
  },
  'a field that fails before the others are counted': {
    query: `query ($n: Int) { bad: bestBlock(chainId: $n) { id } ${repeat(60, (n) => `a${n}: poolPairs(first: 500) { nodes { id } }`)} }`,
    variables: { n: null },
  },
  'recursion through pairs and pools': {
    query: `{ poolPairs(first: 50) { nodes { ${nest(3, 'pairs poolPair', 'id')} } } }`,
  },
  'recursion without lists': { query: `{ pair(poolId: "x") { ${nest(10, 'ticker pair', 'id')} } }` },
  'recursion through fragments': {
    query: `{ pair(poolId: "x") { ...F0 } } ${repeat(20, (n) => `fragment F${n} on Pair { ticker { pair { ...F${n + 1} } } }`)} fragment F20 on Pair { id }`,
  },
  'fragments that multiply, deeply': {
    query: `{ pair(poolId: "x") { ...F0 } } ${repeat(7, (n) => `fragment F${n} on ${n % 2 ? 'Ticker' : 'Pair'} { ${repeat(8, (alias) => `a${alias}: ${n % 2 ? 'pair' : 'ticker'} { ...F${n + 1} }`)} }`)} fragment F7 on Ticker { id }`,
  },
  'fragments nested without fields': { query: `{ ${nest(250, '...', 'beaconHeight')} }` },
  'too deep to be read': { query: `{ chainInfo { ${nest(3_000, 'beacon', 'id')} } }` },
  'an input object that is too deep to be read': {
    query: `{ poolPairs(filter: ${'{ tokenId: '.repeat(2_400)}1${'}'.repeat(2_400)}) { totalCount } }`,
  },
  'heights, written out': {
    query: `{ ${repeat(65, (n) => `a${n}: poolPairs(first: 0, at: ${n + 1}) { totalCount }`)} }`,
  },
  'heights of single pools': {
    query: `query ($a: TokenId!, $b: TokenId!) { ${repeat(65, (n) => `a${n}: poolPair(token1Id: $a, token2Id: $b, at: ${n + 1}) { id }`)} }`,
    variables: { a: PRV, b: BTC },
  },
  'heights in variables': {
    query: `query (${repeat(65, (n) => `$h${n}: BeaconHeight`)}) { ${repeat(65, (n) => `a${n}: poolPairs(first: 0, at: $h${n}) { totalCount }`)} }`,
    variables: Object.fromEntries(HEIGHTS.map((height, n) => [`h${n}`, height])),
  },
  'heights in the defaults of variables': {
    query: `query (${repeat(65, (n) => `$h${n}: BeaconHeight = ${n + 1}`)}) { ${repeat(65, (n) => `a${n}: poolPairs(first: 0, at: $h${n}) { totalCount }`)} }`,
  },
  'heights in cursors': {
    query: `{ ${repeat(65, (n) => `a${n}: poolPairs(first: 0, after: "${cursorAt(n + 1)}") { totalCount }`)} }`,
  },
  'heights in ids': {
    query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    variables: { ids: HEIGHTS.map((height) => `${POOL_ID}@${height}`) },
  },
  'a dear operation behind a cheap one': {
    query: `query Cheap { beaconHeight } query Dear { ${repeat(60, (n) => `a${n}: poolPairs(first: 500) { nodes { id } }`)} }`,
    operationName: 'Dear',
  },
  'a page of thousands in a variable': { query: PAGED, variables: { first: 500 } },
  'a hundred thousand ids': {
    query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    variables: { ids: Array(60_000).fill('x') },
  },
  'thousands of tokens to follow': {
    query: 'subscription ($ids: [TokenId!]) { prices(tokenIds: $ids) { poolPairs { id } } }',
    variables: { ids: Array(3_000).fill(BTC) },
  },
  'a long filter, again and again': {
    query: `query ($symbols: [String!]) { ${repeat(50, (n) => `a${n}: pairs(filter: { tickerIds: $symbols }) { id }`)} }`,
    variables: { symbols: Array(40_000).fill('x') },
  },
  'order books of tickers that nobody lists': {
    query: `{ ${repeat(450, (n) => `a${n}: orderBook(tickerId: "x${n}") { bestBid }`)} }`,
  },
  'whole order books of all tickers': {
    query: '{ tickers { orderBook(depth: 0) { bids { price } asks { price } } } }',
  },
  'every token, again and again': { query: `{ ${repeat(80, (n) => `a${n}: tokens { id }`)} }` },
  'all prices with all that hangs on them': {
    query: 'subscription { prices { poolPairs { pairs { ticker { pair { ticker { id } } } } } } }',
  },
  'prices of the native coin with all that hangs on them': {
    query: `subscription { prices(tokenIds: ["${PRV}"]) { poolPairs { pairs { ticker { pair { ticker { pair { ticker { id } } } } } } } } }`,
  },
  'pairs of many nodes, by their interface': {
    query: `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Node { ... on PoolPair { pairs { ticker { pair { id } } } } } } }`,
    variables: { ids: Array(900).fill(POOL_ID) },
  },
  'the schema, again and again': {
    query: `{ ${repeat(100, (n) => `a${n}: __schema { ...S }`)} } fragment S on __Schema { types { fields { args { type { name } } type { name } } } }`,
  },
  'the types of the schema, again and again': {
    query: `{ __schema { ${repeat(400, (n) => `a${n}: types { fields { name } }`)} } }`,
  },
  'the texts of the schema, again and again': {
    query: `{ __schema { types { fields { ${repeat(430, (n) => `a${n}: description`)} } } } }`,
  },
  'the texts of the schema, again and again, by a variable': {
    query: `query ($all: Boolean!) { __schema { types { fields(includeDeprecated: $all) { ${repeat(430, (n) => `a${n}: description`)} } } } }`,
    variables: { all: true },
  },
  'a long text that comes back in many errors': {
    query: `query ($id: ID!) { ${repeat(100, (n) => `a${n}: node(id: $id) { id }`)} }`,
    variables: { id: 'x'.repeat(100_000) },
  },
  'a long name that comes back for each entry': {
    query: `{ poolPairs(first: 500) { nodes { ${'x'.repeat(9_000)}: id } } }`,
  },
  'a long name that comes back for each field of the schema': {
    query: `{ __schema { types { fields { ${'x'.repeat(100_000)}: name } } } }`,
  },
  'thousands of fields that may be one': { query: `{ ${'chainInfo { id } '.repeat(2_400)} }` },
  'thousands of directives': { query: `{ beaconHeight ${'@include(if: true) '.repeat(2_000)} }` },
};
