import type { Block } from '../chain/block.ts';
import type { Chain } from '../chain/chain.ts';
import { createRandom } from '../chain/random.ts';
import type { GenesisPool } from '../v3/genesis.ts';
import type { Order, PoolState } from '../v3/pool.ts';
import { type GoValue, printGo } from './go-json.ts';
import { fieldsOf, type RpcOutcome } from './rpc.ts';
import { v3Error, v3Invalid } from './rpc-errors.ts';
import { feesOf, NO_MAPS, NO_STATE, orderOf, paramsOf, sharesOf, stateOf } from './state-v3-values.ts';

/** What a node knows when it responds: its tip and its blocks, the oldest height that it keeps, and whether it is old. */
type NodeView = {
  readonly tip: Block;
  block(height: number): Block | undefined;
  readonly oldestKept: number;
  /** An old node has no verbosity 4. */
  readonly isOld: boolean;
  /** Number of pools that a damaged database has lost. */
  readonly missingPools: number;
};

type Filter = { readonly key: string; readonly verbosity: number; readonly id: string };

/** Which parts of a pool a response has. The others are null. */
type Parts = {
  readonly state?: boolean;
  readonly orders?: boolean;
  readonly fees?: boolean;
  readonly shares?: boolean;
};

const PARTS: Readonly<Record<number, Parts>> = {
  2: { state: true, fees: true },
  3: { state: true, fees: true, shares: true },
  4: { state: true, orders: true },
};
const EVERYTHING: Parts = { state: true, fees: true, shares: true, orders: true };

/** Creates the function that responds to `pdexv3_getState`, with results that are printed and indented by one level. */
export function createV3State(chain: Chain): (params: unknown, view: NodeView) => RpcOutcome {
  const { v3Pools, seed } = chain;
  const ids = v3Pools.map(({ id }) => id);
  const pools = new Map(v3Pools.map((pool) => [pool.id, pool]));
  const sorted = [...v3Pools].sort((one, other) => (one.id < other.id ? -1 : 1));
  const orderTexts = new WeakMap<Order, string>();

  function orderText(order: Order): string {
    const known = orderTexts.get(order);
    if (known !== undefined) return known;
    const text = printGo(orderOf(order), 6);
    orderTexts.set(order, text);
    return text;
  }

  function poolText(pool: GenesisPool, state: PoolState, parts: Parts): string {
    const orders =
      parts.orders && state.orders.length > 0
        ? `{\n${'\t'.repeat(5)}"orders": ${list(state.orders.map(orderText), 5)}\n${'\t'.repeat(4)}}`
        : '{}';
    const fields: (readonly [string, string])[] = [
      ['State', printGo(parts.state ? stateOf(pool, state) : NO_STATE, 4)],
      ...(parts.shares && state.shares > 0n ? [['Shares', printGo(sharesOf(seed, pool, state), 4)] as const] : []),
      ['Orderbook', orders],
      ...Object.entries(feesOf(pool, parts)).map(([name, value]) => [name, printGo(value, 4)] as const),
    ];
    return `${JSON.stringify(pool.id)}: ${struct(fields, 3)}`;
  }

  function poolsText(block: Block, shown: readonly GenesisPool[], parts: Parts): string {
    const states = block.v3?.states;
    const texts = shown.map((pool) => poolText(pool, states?.get(pool.id) ?? pool.initial, parts));
    return withPools(block, texts);
  }

  function emptyPool(block: Block, id: string): string {
    const fields = struct([['State', printGo(NO_STATE, 4)], ['Orderbook', '{}'], ...NO_MAPS], 3);
    return withPools(block, [`${JSON.stringify(id)}: ${fields}`]);
  }

  function resultOf(
    { key, verbosity, id }: Filter,
    block: Block,
    { isOld, missingPools }: NodeView,
  ): string | RpcOutcome {
    const known = pools.get(id);
    const withTime = (fields: Record<string, GoValue>) => printGo({ BeaconTimeStamp: block.time, ...fields }, 1);
    switch (key) {
      case 'PoolPairs': {
        const shown = sorted.slice(missingPools);
        if (verbosity === 1)
          return printGo(
            shuffled(
              seed,
              shown.map((pool) => pool.id),
              block,
            ),
            1,
          );
        const parts = isOld && verbosity === 4 ? undefined : PARTS[verbosity];
        return parts ? poolsText(block, shown, parts) : { error: v3Error("Can't recognize verbosity", 3) };
      }
      case 'PoolPair':
        return known
          ? poolsText(block, [known], EVERYTHING)
          : { error: v3Error('0: could not found pDex v3 pool pairs in statedb', 3) };
      case 'PoolPairOrders':
        return known ? poolsText(block, [known], { orders: true }) : emptyPool(block, id);
      case 'PoolPairShares':
        return known ? poolsText(block, [known], { shares: true }) : withTime({ PoolPairs: {} });
      case 'PoolPairOrderRewards':
        return emptyPool(block, id);
      case 'Params':
        return withTime({ Params: paramsOf(block.height, ids) });
      case 'StakingPools':
      case 'StakingPool':
        return withTime({ StakingPools: {} });
      case 'WaitingContributions':
        return withTime({ WaitingContributions: {} });
      case 'NftIDs':
        return withTime({ NftIDs: {} });
      case 'NftIDsCached':
        return printGo({}, 1);
      default:
        return { error: v3Error("Can't recognize filter key", 2) };
    }
  }

  return (params, view) => {
    const request = parseRequest(params);
    if ('error' in request) return request;
    const { filter } = request;
    const height = request.height === 0 ? view.tip.height : request.height;
    if (height < chain.v3From) return { error: v3Error('pDEX v3 is not available', 2) };
    if (height > view.tip.height) {
      const missing = `Can't found ConsensusStateRootHash of beacon height ${height}, error Beacon, Block Height ${height} not found`;
      return { error: v3Error(missing, 2) };
    }
    const block = height < view.oldestKept ? undefined : view.block(height);
    if (block === undefined) {
      return { error: v3Error(`missing trie node ${createRandom(height, 'state root').hex(64)} (path )`, 2) };
    }
    const result = resultOf(filter, block, view);
    return typeof result === 'string' ? { result: Buffer.from(result) } : result;
  };
}

/** Parses the parameters as Go does: names of fields in any case, and missing parts of the filter are empty. */
function parseRequest(
  params: unknown,
): { readonly height: number; readonly filter: Filter } | Extract<RpcOutcome, { error: unknown }> {
  const first = Array.isArray(params) ? fieldsOf(params[0]) : undefined;
  if (first === undefined) return { error: v3Invalid('Payload data is invalid') };
  const height = first.get('beaconheight');
  if (typeof height !== 'number' || height < 0) return { error: v3Invalid('Beacon height is invalid') };
  const filter = fieldsOf(first.get('filter'));
  if (filter === undefined) return { error: v3Invalid('Filter is invalid') };

  const key = filter.get('key') ?? '';
  const verbosity = filter.get('verbosity') ?? 0;
  const id = filter.get('id') ?? '';
  if (typeof key !== 'string') return { error: unmarshal(key, 'Key', 'string') };
  if (typeof verbosity !== 'number' || !Number.isInteger(verbosity) || verbosity < 0) {
    return { error: unmarshal(verbosity, 'Verbosity', 'uint') };
  }
  if (typeof id !== 'string') return { error: unmarshal(id, 'ID', 'string') };
  return { height: Math.floor(height), filter: { key, verbosity, id } };
}

function unmarshal(value: unknown, field: string, type: string) {
  return v3Error(`json: cannot unmarshal ${typeof value} into Go struct field FilterParam.${field} of type ${type}`, 2);
}

/** The ids of pools in an order of their own for each block, as a map of Go. */
function shuffled(seed: number, ids: readonly string[], { height, version }: Block): readonly string[] {
  const random = createRandom(seed, 'order of pools', height, version);
  return ids
    .map((id) => ({ id, place: random.unit() }))
    .sort((one, other) => one.place - other.place)
    .map(({ id }) => id);
}

function withPools({ time }: Block, pools: readonly string[]): string {
  return map([`"BeaconTimeStamp": ${time}`, `"PoolPairs": ${map(pools, 2)}`], 1);
}

function struct(fields: readonly (readonly [string, string])[], depth: number): string {
  return map(
    fields.map(([name, text]) => `"${name}": ${text}`),
    depth,
  );
}

function map(lines: readonly string[], depth: number): string {
  return lines.length === 0 ? '{}' : `{${indented(lines, depth)}}`;
}

function list(lines: readonly string[], depth: number): string {
  return `[${indented(lines, depth)}]`;
}

function indented(lines: readonly string[], depth: number): string {
  const indent = `\n${'\t'.repeat(depth + 1)}`;
  return `${indent}${lines.join(`,${indent}`)}\n${'\t'.repeat(depth)}`;
}
