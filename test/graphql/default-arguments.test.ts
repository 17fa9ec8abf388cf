import { type GraphQLArgument, isNonNullType, isObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { chainHeights } from '../history/of-chain.ts';
import { createStoreModel } from '../history/store-model.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ETH, PRV, XMR } from '../support/tokens.ts';

type Case = {
  readonly name: string;
  readonly type: string;
  /** The default, and another value that gives another answer. */
  readonly values: readonly [byDefault: string, other: string];
  readonly query: (value: string) => string;
};

const SWAP = `sellTokenId: "${XMR}", buyTokenId: "${ETH}", sellAmount: 1000000000`;
const BOOK = 'bids { price } asks { price }';

/** Every argument with a default, and how its field is queried. */
const CASES: readonly Case[] = [
  {
    name: 'Query.bestBlock(chainId:)',
    type: 'Int',
    values: ['-1', '0'],
    query: (value) => `{ bestBlock(chainId: ${value}) { id } }`,
  },
  {
    name: 'Query.poolPairs(orderBy:)',
    type: 'PoolPairOrder',
    values: ['NON_EMPTY_FIRST', 'ID_DESC'],
    query: (value) => `{ poolPairs(orderBy: ${value}, first: 9) { nodes { id } pageInfo { endCursor } } }`,
  },
  {
    name: 'Token.poolPairs(orderBy:)',
    type: 'PoolPairOrder',
    values: ['NON_EMPTY_FIRST', 'ID_DESC'],
    query: (value) => `{ token(id: "${PRV}") { poolPairs(orderBy: ${value}, first: 9) { nodes { id } } } }`,
  },
  {
    name: 'Query.orderBook(depth:)',
    type: 'Int',
    values: ['100', '0'],
    query: (value) => `{ orderBook(tickerId: "pBTC_PRV", depth: ${value}) { ${BOOK} } }`,
  },
  {
    name: 'Pair.orderBook(depth:)',
    type: 'Int',
    values: ['100', '0'],
    query: (value) => `{ pair(tickerId: "pBTC_PRV") { orderBook(depth: ${value}) { ${BOOK} } } }`,
  },
  {
    name: 'Ticker.orderBook(depth:)',
    type: 'Int',
    values: ['100', '0'],
    query: (value) => `{ ticker(tickerId: "pBTC_PRV") { orderBook(depth: ${value}) { ${BOOK} } } }`,
  },
  {
    name: 'Query.quote(maxHops:)',
    type: 'Int',
    values: ['3', '1'],
    query: (value) => `{ quote(${SWAP}, maxHops: ${value}) { route { buyAmount } } }`,
  },
  {
    name: 'Subscription.quote(maxHops:)',
    type: 'Int',
    values: ['3', '1'],
    query: (value) => `{ quote(${SWAP}, maxHops: ${value}) { route { buyAmount } } }`,
  },
  {
    name: 'Quote.minimumReceived(slippagePercent:)',
    type: 'Float',
    values: ['0.5', '1'],
    query: (value) => `{ quote(${SWAP}) { minimumReceived(slippagePercent: ${value}) } }`,
  },
  {
    name: 'Subscription.orderBook(depth:)',
    type: 'Int',
    values: ['100', '0'],
    query: (value) => `{ orderBook(tickerId: "pBTC_PRV", depth: ${value}) { ${BOOK} } }`,
  },
  {
    name: 'PoolPair.depth(percents:)',
    type: '[Float!]',
    values: ['[0.5, 1, 2, 5, 10]', '[3]'],
    query: (value) => `{ poolPairs(first: 3) { nodes { depth(percents: ${value}) { percent upToken1 } } } }`,
  },
  // Pools of V1 have no orders. Their fields refuse the same arguments.
  {
    name: 'PoolPair.book(depth:)',
    type: 'Int',
    values: ['100', '-1'],
    query: (value) => `{ poolPairs(first: 3) { nodes { book(depth: ${value}) { bestBid } } } }`,
  },
  {
    name: 'PoolPair.orders(first:)',
    type: 'Int',
    values: ['50', '-1'],
    query: (value) => `{ poolPairs(first: 3) { nodes { orders(first: ${value}) { id } } } }`,
  },
  {
    name: 'PoolPair.trades(first:)',
    type: 'Int',
    values: ['50', '-1'],
    query: (value) => `{ poolPairs(first: 3) { nodes { trades(first: ${value}) { nodes { id } } } } }`,
  },
  {
    name: 'PoolPair.volume(hours:)',
    type: 'Int',
    values: ['24', '0'],
    query: (value) => `{ poolPairs(first: 3) { nodes { volume(hours: ${value}) { trades } } } }`,
  },
  {
    name: 'Pair.depthLadder(levels:)',
    type: 'Int',
    values: ['20', '3'],
    query: (value) => `{ pair(tickerId: "pBTC_PRV") { depthLadder(levels: ${value}) { bids { price quantity } } } }`,
  },
  {
    name: 'Pair.depthLadder(stepPercent:)',
    type: 'Float',
    values: ['0.25', '0.5'],
    query: (value) =>
      `{ pair(tickerId: "pBTC_PRV") { depthLadder(stepPercent: ${value}) { bids { price quantity } } } }`,
  },
  ...['Query', 'Subscription'].flatMap((type): Case[] => [
    {
      name: `${type}.divergentPairs(minPercent:)`,
      type: 'Float',
      values: ['1', '9'],
      query: (value) => `{ divergentPairs(minPercent: ${value}) { id } }`,
    },
    {
      name: `${type}.divergentPairs(first:)`,
      type: 'Int',
      values: ['50', '2'],
      query: (value) => `{ divergentPairs(first: ${value}) { id } }`,
    },
  ]),
  {
    name: 'PoolPair.candles(last:)',
    type: 'Int',
    values: ['100', '3'],
    query: (value) => `{ poolPairs(first: 3) { nodes { candles(interval: ONE_MINUTE, last: ${value}) { close } } } }`,
  },
  {
    name: 'PoolPair.change(hours:)',
    type: 'Int',
    values: ['24', '1'],
    query: (value) => `{ poolPairs(first: 3) { nodes { change(hours: ${value}) { fromHeight isComplete } } } }`,
  },
  {
    name: 'PoolPair.sparkline(hours:)',
    type: 'Int',
    values: ['24', '1'],
    query: (value) => `{ poolPairs(first: 3) { nodes { sparkline(hours: ${value}) } } }`,
  },
  {
    name: 'PoolPair.sparkline(points:)',
    type: 'Int',
    values: ['24', '2'],
    query: (value) => `{ poolPairs(first: 3) { nodes { sparkline(points: ${value}) } } }`,
  },
  {
    name: 'Pair.change(hours:)',
    type: 'Int',
    values: ['24', '1'],
    query: (value) => `{ pair(tickerId: "pBTC_PRV") { change(hours: ${value}) { fromHeight isComplete } } }`,
  },
  {
    name: 'Pair.sparkline(hours:)',
    type: 'Int',
    values: ['24', '1'],
    query: (value) => `{ pair(tickerId: "pBTC_PRV") { sparkline(hours: ${value}) } }`,
  },
  {
    name: 'Pair.sparkline(points:)',
    type: 'Int',
    values: ['24', '2'],
    query: (value) => `{ pair(tickerId: "pBTC_PRV") { sparkline(points: ${value}) } }`,
  },
  {
    name: 'History.blocks(last:)',
    type: 'Int',
    values: ['60', '1'],
    query: (value) => `{ history { blocks(last: ${value}) { beaconHeight } } }`,
  },
  {
    name: 'History.gaps(first:)',
    type: 'Int',
    values: ['100', '1'],
    query: (value) => `{ history { gaps(first: ${value}) { from to } } }`,
  },
  {
    name: 'Subscription.prices(onlyChanged:)',
    type: 'Boolean',
    values: ['false', 'true'],
    query: (value) => `{ prices(onlyChanged: ${value}) { poolPairs { id } } }`,
  },
];

function argumentsWithDefault(): (readonly [string, GraphQLArgument])[] {
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ type, field })) : []))
    .flatMap(({ type, field }) => field.args.map((arg) => [`${type.name}.${field.name}(${arg.name}:)`, arg] as const))
    .filter(([, arg]) => arg.default !== undefined || arg.defaultValue !== undefined);
}

describe('an argument with a default', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const started = await startRecordedGateway();
    gateway = started;
    return started.close;
  });

  test('is nullable, and a test covers its null', () => {
    const args = argumentsWithDefault();
    expect(args.filter(([, { type }]) => isNonNullType(type)).map(([name]) => name)).toEqual([]);
    expect(args.map(([name]) => name).toSorted()).toEqual(CASES.map(({ name }) => name).toSorted());
  });

  test.each(CASES)('$name has its default if it is null', async ({ name, type, values, query }) => {
    const isSubscription = name.startsWith('Subscription.');
    const ask = isSubscription ? firstUpdate(gateway) : gateway.ask;
    const operation = isSubscription ? 'subscription' : 'query';

    const expected = await ask(`${operation} ${query(values[0])}`);
    expect(expected?.errors).toBeUndefined();
    expect(await ask(`${operation} ${query(values[1])}`)).not.toEqual(expected);
    expect(await ask(`${operation} ${query('null')}`)).toEqual(expected);
    for (const variables of [{ value: null }, {}]) {
      expect(await ask(`${operation} ($value: ${type}) ${query('$value')}`, variables)).toEqual(expected);
    }
  });
});

/** Starts a gateway with two hours of history, of which each tenth height is missing. */
function startRecordedGateway() {
  const store = createStoreModel();
  return startGateway({
    store,
    before(sandbox) {
      const { height } = sandbox.chain.tip;
      return store.record(
        chainHeights(sandbox, height - 180, height - 3).filter(({ beaconHeight }) => beaconHeight % 10),
      );
    },
    config: { historyBackfillHours: 0 },
  });
}

/** The first update of a subscription, or of prices the one at the block after its start. */
function firstUpdate({ subscribe, sandbox }: TestGateway) {
  return async (document: string, variables?: Record<string, unknown>) => {
    const updates = subscribe(document, variables);
    let { value } = await updates.next();
    if (document.includes('prices')) {
      sandbox.replaceTip();
      ({ value } = await updates.next());
    }
    await updates.return(undefined);
    return value;
  };
}
