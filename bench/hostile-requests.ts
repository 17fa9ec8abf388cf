/** One request that is meant to block the gateway, within the limit of a body. */
export type HostileRequest =
  | { readonly post: string; readonly accept?: string; readonly encoding?: string }
  /**
   * The payloads of `subscribe` messages as JSON, which are sent at once, and the number of updates that the client waits for. Without the
   * number, it waits until all have ended.
   */
  | { readonly subscribe: readonly string[]; readonly updates?: number };

/** Maximum size of a body. */
const MAX_BYTES = 262_144;

/** Joins a number of texts. */
function repeat(count: number, text: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => text(n)).join(' ');
}

const page = (fields: string) => `poolPairs(first: 54) { nodes { ${fields} } }`;
const badPrices = (count: number, argument = 'decimals1: 99') => repeat(count, (n) => `a${n}: price(${argument})`);
const threeLists = `{ ${repeat(3, (list) => `l${list}: ${page(badPrices(990)).replaceAll(' a', `\n a${list}x`)}`)} }`;
const lines = (count: number) => '\n'.repeat(count);
const fill = (start: string, end: string) => `${start}${'x'.repeat(MAX_BYTES - 200 - start.length - end.length)}${end}`;
const post = (query: string, variables?: unknown): HostileRequest => ({ post: JSON.stringify({ query, variables }) });
const onWebSocket = (query: string, variables?: unknown, updates = 1): HostileRequest => ({
  subscribe: [JSON.stringify({ query, variables })],
  updates,
});
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const IDS = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
const FIRST = 'query ($first: Int) { poolPairs(first: $first) { totalCount } }';
const PERCENTS =
  'query ($percents: [Float!]) { poolPairs(first: 1) { nodes { depth(percents: $percents) { percent } } } }';
const FILTER = 'query ($f: PoolPairFilter) { poolPairs(filter: $f) { totalCount } }';
const PRICES = 'subscription ($keys: [PoolPairKey!]) { prices(poolPairs: $keys) { beaconHeight } }';
const SWAP = {
  sell: '0000000000000000000000000000000000000000000000000000000000000004',
  buy: 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696',
};
/** Quotes of the longest routes between two tokens with many pools. */
const quotes = (count: number, at = '') =>
  `query ($sell: TokenId!, $buy: TokenId!) { ${repeat(count, (n) => `a${n}: quote(sellTokenId: $sell, buyTokenId: $buy, sellAmount: ${n + 1}, maxHops: 4${at}) { price }`)} }`;
/** Fields of one pool, each of which reads something else from the history. */
const ofPool = (count: number, field: (n: number) => string) =>
  `{ poolPairs(first: 1) { nodes { ${repeat(count, (n) => `a${n}: ${field(n)}`)} } } }`;
/** A list that is the argument of 2,400 fields of each pool. */
const argumentsThatMultiply = (
  percents: string,
  variables = '',
) => `query ${variables} { poolPairs(first: 1) { nodes { ...F } } }
  fragment F on PoolPair { ${repeat(40, (n) => `x${n}: current { ...G }`)} }
  fragment G on PoolPair { ${repeat(60, (n) => `y${n}: current { ...H }`)} }
  fragment H on PoolPair { depth(percents: [${percents}]) { percent } }`;
const EVERY_FIELD = 'id key beaconHeight token1PoolValue token2PoolValue price exactPrice inversePrice spotPrice';

/** 270,000 values, with a complexity of nearly 20,000: one page of 500 pools, each with 540 scalars. */
const MOST_VALUES = `{ poolPairs(first: 500) { nodes { ${repeat(540, (each) => `x${each}: price`)} } } }`;

/** Requests by their names. */
export const HOSTILE: Readonly<Record<string, HostileRequest>> = {
  'three lists of 990 bad arguments': post(threeLists),
  '1,800 bad arguments of a list': post(`{ ${page(badPrices(990))} }`),
  'bad arguments behind 120,000 line breaks': post(`${lines(120_000)}{ ${page(badPrices(30))} }`),
  'bad arguments in a variable': post(`query ($d: Int) { ${page(badPrices(900, 'decimals1: $d'))} }`, { d: 99 }),
  'validation errors behind 100,000 line breaks': post(`${lines(100_000)}{ ${repeat(5_000, (n) => `a${n}`)} }`),
  'misspelt fields': post(`{ ${repeat(5_000, (n) => `poolPair${n}`)} }`),
  'misspelt arguments': post(`{ ${repeat(1_300, (n) => `a${n}: node(idd: 1) { id }`)} }`),
  'unknown fields of a literal': post(`{ poolPairs(filter: { ${repeat(3_000, (n) => `x${n}: 1`)} }) { totalCount } }`),
  'a long literal with several errors': post(
    `{ poolPairs(filter: { a: [${repeat(9_800, () => '1')}] b: 1 c: 2 }) { totalCount } }`,
  ),
  'short literals with many errors': post(
    `{ ${repeat(100, (n) => `a${n}: poolPairs(filter: { ${repeat(25, (field) => `x${field}: 1`)} }) { totalCount }`)} }`,
  ),
  'nested literals': post(`{ nodes(ids: ${'['.repeat(2_000)}1${']'.repeat(2_000)}) { id } }`),
  'a syntax error behind line breaks': { post: `{"query":"${'\\n'.repeat(120_000)} { a b: }"}` },
  'line breaks and nothing else': { post: `{"query":"${'\\n'.repeat(130_000)}"}` },
  comments: { post: `{"query":"${'#\\n'.repeat(85_000)}{ beaconHeight }"}` },
  'more tokens than allowed': post(`{ ${'a '.repeat(120_000)} }`),
  'fields that may be one': post(`{ ${'chainInfo { id } '.repeat(2_400)} }`),
  'fields that may be one, side by side': post(`{ ${'beaconHeight '.repeat(9_990)} }`),
  'fields that may be one, in each other': post(`{ ${`poolPairs { nodes { ${'price '.repeat(40)} } } `.repeat(200)} }`),
  'literals in fragments that multiply': post(argumentsThatMultiply(repeat(3_000, () => '1'))),
  'literals and a variable in fragments that multiply': post(
    argumentsThatMultiply(`$v ${repeat(3_000, () => '1')}`, '($v: Float = 1)'),
  ),
  'fragments that multiply': post(
    `{ ...F0 } ${repeat(600, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F600 on Query { beaconHeight }`,
  ),
  'fragments that all spread each other': post(
    `{ ${repeat(90, (n) => `...F${n}`)} } ${repeat(90, (n) => `fragment F${n} on Query { ${repeat(89 - n, (m) => `...F${n + 1 + m}`)} a${n}: beaconHeight }`)}`,
  ),
  'many operations with many variables': post(
    `${repeat(600, (n) => `query Q${n}($v: Int) { ...F }`)} fragment F on Query { ${repeat(100, (n) => `a${n}: poolPairs(first: $v) { totalCount }`)} }`,
  ),
  'many operations': {
    post: JSON.stringify({ query: repeat(1_990, (n) => `query Q${n} { beaconHeight }`), operationName: 'Q1989' }),
  },
  'a hundred operations with one fragment': post(
    `${repeat(95, (n) => `query Q${n} { ...F }`)} fragment F on Query { ${'beaconHeight '.repeat(9_300)} }`,
  ),
  'fields that may be one, and a variable': post(
    `query ($v: Int) { ${'beaconHeight '.repeat(9_900)} poolPairs(first: $v) { totalCount } }`,
  ),
  'ten long answers in an array': {
    post: JSON.stringify(
      Array.from({ length: 10 }, (_, n) => ({
        query: `{ p${n}: poolPairs(first: 500) { nodes { ${repeat(118, (each) => `x${each}: price`)} } } }`,
      })),
    ),
  },
  'as many operations as a request may have': {
    post: JSON.stringify(Array.from({ length: 10 }, (_, n) => ({ query: `{ b${n}: ${page(badPrices(700))} }` }))),
  },
  'as many values as allowed': post(MOST_VALUES),
  'as many values as allowed, on a websocket': onWebSocket(MOST_VALUES),
  'as many fields as allowed': post(
    `{ ${repeat(9, (n) => `a${n}: poolPairs(first: 1) { nodes { ${'id '.repeat(900)} } }`)} }`,
  ),
  'as many aliases as allowed': post(
    `{ ${repeat(3, (n) => `a${n}: poolPairs(first: 92) { nodes { ${repeat(990, (each) => `x${each}: key`)} } }`)} }`,
  ),
  'every field of every pool': post(
    `{ ${repeat(8, (n) => `a${n}: poolPairs(first: 500) { nodes { ${EVERY_FIELD} token1 { id symbol } token2 { id symbol } } }`)} }`,
  ),
  'every token, again and again': post(`{ ${repeat(200, (n) => `a${n}: tokens { id symbol decimals }`)} }`),
  'pages in orders of their own': post(
    `{ ${repeat(400, (n) => `a${n}: poolPairs(first: 0, orderBy: NATIVE_LIQUIDITY_DESC, filter: { symbols: ["x${n}", "pBTC"] }) { totalCount }`)} }`,
  ),
  'as many quotes as allowed': post(quotes(400), SWAP),
  'as many quotes of an earlier height as allowed': post(quotes(165, ', at: 1639990'), SWAP),
  'as many reads of candles as allowed': post(
    ofPool(550, (n) => `candles(interval: ONE_MINUTE, last: 20, from: "${new Date(n).toISOString()}") { open }`),
  ),
  'as many changes of prices as allowed': post(ofPool(800, (n) => `change(hours: ${n + 1}) { high }`)),
  'as many sparklines as allowed': post(ofPool(590, (n) => `sparkline(hours: ${n + 1}, points: 500)`)),
  'the schema': post(`{ ${repeat(30, (n) => `a${n}: __schema { types { name fields { name type { name } } } }`)} }`),
  'unknown order books': post(`{ ${repeat(390, (n) => `a${n}: orderBook(tickerId: "x${n}") { bestBid }`)} }`),
  '50,000 bad ids': post(IDS, { ids: Array(50_000).fill('x') }),
  '9,000 bad ids': post(IDS, { ids: Array(9_000).fill('x') }),
  '19,000 pairs by their ids': post(IDS, { ids: Array(19_000).fill('Pair:x') }),
  '18,000 blocks by their ids': post(IDS, { ids: Array(18_000).fill('BestBlock:0') }),
  'tokens that are not listed': post(IDS, {
    ids: Array.from({ length: 3_400 }, (_, n) => `Token:${String(n).padStart(64, 'a')}`),
  }),
  '9,000 ids in the document': post(`{ nodes(ids: [${repeat(9_900, () => '1')}]) { id } }`),
  '3,000 tokens by their ids': post(IDS, { ids: Array(3_000).fill(`Token:${'0'.repeat(63)}4`) }),
  'ids that are objects': post(IDS, { ids: Array(80_000).fill({}) }),
  'a list that a field refuses': post(PERCENTS, { percents: Array(120_000).fill(1) }),
  'a long Accept': { post: '{"query":"{ beaconHeight }"}', accept: `${'a/b,'.repeat(3_700)}*/*` },
  'a long Content-Encoding': { post: '{"query":"{ beaconHeight }"}', encoding: `${'\u00a0'.repeat(15_000)}x` },
  'numbers that are texts': post(FIRST, { first: Array(60_000).fill('x') }),
  'unknown fields of a variable': post(FILTER, {
    f: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`x${n}`, 1])),
  }),
  'a long name of an unknown field': { post: fill(`{"query":"${FILTER}","variables":{"f":{"`, '":1}}}') },
  'deep JSON as a variable': {
    post: `{"query":"${FIRST}","variables":{"first":${deep(120_000)}}}`,
  },
  'deep JSON that is no variable': {
    post: `{"query":"{ beaconHeight }","variables":{"junk":${deep(120_000)}}}`,
  },
  'deep JSON': { post: deep(130_000) },
  'a long number as a variable': { post: `{"query":"${FIRST}","variables":{"first":${'9'.repeat(250_000)}}}` },
  'a long number': post(`{ poolPairs(first: ${'9'.repeat(250_000)}) { totalCount } }`),
  'a long text': post(`{ node(id: "${'\\u00e4'.repeat(20_000)}") { id } }`),
  'a long name': post(`{ ${'x'.repeat(250_000)} }`),
  'a long alias in a list': post(`{ poolPairs(first: 30) { nodes { ${'x'.repeat(120_000)}: price(decimals1: 99) } } }`),
  'many variables': post(`query (${repeat(1_900, (n) => `$v${n}: Int`)}) { beaconHeight }`),
  'a list of bad prices, as events': { ...(post(threeLists) as { post: string }), accept: 'text/event-stream' },
  'a page of bad prices on a websocket': onWebSocket(threeLists),
  'bad prices at every update': onWebSocket(
    `subscription { prices { poolPairs { ${badPrices(990)} } } }`,
    undefined,
    3,
  ),
  'a few bad prices of each pool at every update': onWebSocket(
    `subscription { prices { poolPairs { ${badPrices(40)} } } }`,
    undefined,
    3,
  ),
  'a subscription behind 100,000 line breaks': onWebSocket(`${lines(100_000)}subscription { head { beaconHeight } }`),
  'bad prices behind line breaks at every update': onWebSocket(
    `${lines(19_000)}subscription { prices { poolPairs { ${badPrices(900)} } } }`,
    undefined,
    3,
  ),
  'every field of every pool at every update': onWebSocket(
    `subscription { prices { poolPairs { ${repeat(20, (n) =>
      EVERY_FIELD.split(' ')
        .map((name) => `${name}${n}: ${name}`)
        .join(' '),
    )} } } }`,
    undefined,
    3,
  ),
  'deep JSON as a variable of a subscription': {
    subscribe: [`{"query":"${PRICES}","variables":{"keys":${deep(120_000)}}}`],
    updates: 1,
  },
  'deep JSON as a subscription': { subscribe: [deep(120_000)], updates: 1 },
  'bad pools of a subscription': onWebSocket(PRICES, { keys: Array(60_000).fill('x') }),
  'pools of a subscription with bad tokens': onWebSocket(PRICES, {
    keys: Array(6_000).fill({ token1Id: 'x', token2Id: 'y' }),
  }),
  'unknown pools of a subscription': onWebSocket(PRICES, {
    keys: Array.from({ length: 1_500 }, (_, n) => ({
      token1Id: String(n).padStart(64, '0'),
      token2Id: String(n).padStart(64, 'f'),
    })),
  }),
  'unknown fields of a variable of a subscription': onWebSocket(PRICES, {
    keys: [Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`x${n}`, 1]))],
  }),
  '50,000 bad ids on a websocket': onWebSocket(IDS, { ids: Array(50_000).fill('x') }),
  '50,000 bad ids on a websocket, eight times at once': {
    subscribe: Array(8).fill(JSON.stringify({ query: IDS, variables: { ids: Array(50_000).fill('x') } })),
  },
  'deep JSON as a variable on a websocket, eight times at once': {
    subscribe: Array(8).fill(`{"query":"${FIRST}","variables":{"first":${deep(110_000)}}}`),
  },
  'forty documents of nearly a thousand tokens on a websocket, all at once': {
    subscribe: Array.from({ length: 40 }, (_, document) =>
      JSON.stringify({ query: `query Q${document} ${ofPool(320, () => 'price')}` }),
    ),
  },
};
