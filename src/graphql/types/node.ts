import { type BeaconHeight, parseBeaconHeight } from '../../domain/beacon-height.ts';
import { findBestBlock } from '../../domain/chain.ts';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import { parsePoolPairId } from '../../domain/pool-pair.ts';
import { parseTokenId } from '../../domain/token.ts';
import { BadUserInputError } from '../../errors.ts';
import type { Loaders } from '../../loaders/loaders.ts';
import { findTrade } from '../../loaders/trades.ts';
import { builder, NodeRef } from '../builder.ts';
import { IS_NODE_ID, objects } from '../complexity.ts';

/** Finds an object by the part of its id after the colon. Returns {@link NO_ID} for a text that is not an id. */
type Finder = (id: string, loaders: Loaders) => MaybePromise<object | undefined> | typeof NO_ID;

const NO_ID = Symbol('not an id');

const FINDERS: Readonly<Record<string, Finder>> = {
  Pair: (id, { market }) => market.pairs.byPoolId(id),
  Ticker: (id, { market }) => market.tickers.byPoolId(id),
  PoolPair: findPoolPair,
  Token: (id, { tokens }) => (parseTokenId(id) === undefined ? NO_ID : tokens.find(id)),
  ChainInfo: (id, { head }) =>
    andThen(head.get(), ({ chainInfo }) => (chainInfo.chainName === id ? chainInfo : undefined)),
  BestBlock: (id, { head }) =>
    /^(-1|0|[1-9]\d{0,8})$/.test(id)
      ? andThen(head.get(), ({ chainInfo }) => findBestBlock(chainInfo, Number(id)))
      : NO_ID,
  Trade: findTradeById,
};

/** The object with an id, `<type>:<id>`; `undefined` if there is none, and the error of a text that is not an id. */
function findNode(globalId: string, loaders: Loaders): MaybePromise<object | undefined> {
  const [, typename = '', id = ''] = /^(\w+):(.+)$/s.exec(globalId) ?? [];
  const found = Object.hasOwn(FINDERS, typename) ? FINDERS[typename]?.(id, loaders) : NO_ID;
  return found === NO_ID
    ? new BadUserInputError(`${JSON.stringify(globalId.slice(0, 100))} is not a valid id.`)
    : found;
}

/** Finds the current pool of either version, or the pool at the height after the `@`. The token ids must be in the order of the pool. */
function findPoolPair(id: string, { exchange }: Loaders): ReturnType<Finder> {
  const [pools = '', height, ...rest] = id.split('@');
  if (rest.length > 0) return NO_ID;
  const ids = parsePoolPairId(pools);
  const at = height === undefined ? undefined : readHeight(height);
  if (ids === undefined || (height !== undefined && at === undefined)) return NO_ID;

  return exchange.named(ids, at);
}

/** Finds a trade of one of the newest blocks, or a recorded one, by `<height>:<transaction>:<step>`. */
function findTradeById(id: string, loaders: Loaders): ReturnType<Finder> {
  const [, height = '', transactionId = '', step] = /^([1-9]\d*):([0-9a-f]{64}):(\d)$/.exec(id) ?? [];
  const beaconHeight = readHeight(height);
  if (beaconHeight === undefined) return NO_ID;
  return findTrade({ beaconHeight, transactionId, step: Number(step) }, loaders);
}

function readHeight(text: string): BeaconHeight | undefined {
  return /^[1-9]\d*$/.test(text) ? parseBeaconHeight(Number(text)) : undefined;
}

builder.queryFields((t) => ({
  node: t.field({
    type: NodeRef,
    nullable: true,
    description:
      "Finds an object by its id. Ids are readable: 'Pair:<pool id>', 'Ticker:<pool id>', 'PoolPair:<pool id>' for a pool of V3, 'PoolPair:<id1>-<id2>' for one of V1, 'PoolPair:<pool id>@<height>' and 'PoolPair:<id1>-<id2>@<height>', 'Token:<id>', 'ChainInfo:<name>', 'BestBlock:<chain id>', 'Trade:<height>:<transaction>:<step>'. A trade is found in the newest `service.limits.maxResumedHeights` blocks and in the recorded history; one of an earlier block whose trades are not known is HEIGHT_NOT_AVAILABLE, and one of a block above the newest height is null. Null if there is no such object. Null with an error if its upstream cannot be read. Text in any other format is BAD_USER_INPUT.",
    args: { id: t.arg.id({ required: true, description: 'Id of the object.', extensions: IS_NODE_ID }) },
    resolve: (_root, { id }, { loaders }) => findNode(id, loaders),
  }),
  nodes: t.field({
    type: [NodeRef],
    nullable: { list: false, items: true },
    complexity: ({ ids }) => objects(ids.length),
    description: 'Finds objects by their ids, in the order of the ids. An entry is null in the same cases as `node`.',
    args: { ids: t.arg.idList({ required: true, description: 'Ids of the objects.', extensions: IS_NODE_ID }) },
    // One after another: the executor yields to the event loop within a long list.
    resolve: (_root, { ids }, { loaders }) => ids.values().map((id) => findNode(id, loaders)),
  }),
}));
