import { type ExchangeState, poolCount, poolPairAt } from '../../src/domain/exchange.ts';
import { poolPairId } from '../../src/domain/pool-pair.ts';
import type { FinalBlock } from '../../src/history/store.ts';
import type { TradedBlock } from '../../src/history/trade-store.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { volumesOf } from '../../src/sandbox/v3/trades.ts';
import { startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { readSample } from '../support/metrics.ts';
import { createMemoryStore, type MemoryStore } from './memory-store.ts';

/** The heights of a range, both included. */
export const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** A gateway that records into a store in memory. */
export type RecordingGateway = TestGateway & {
  readonly store: MemoryStore;
  /** Makes blocks one by one, each served before the next. */
  advanceEach(blocks: number): Promise<void>;
  untilRecorded(height: number): Promise<void>;
  /** The value of a metric of the history, by its name without `pdex_history_`. */
  metric(name: string): Promise<number | undefined>;
};

/** Starts it for one test; without backfill unless the config turns it on. */
export async function recordForTest({
  config,
  ...options
}: TestGatewayOptions & { readonly store?: MemoryStore } = {}): Promise<RecordingGateway> {
  const store = options.store ?? createMemoryStore();
  const gateway = await startGatewayForTest({
    ...options,
    // Nothing of the market data is recorded.
    without: 'MARKET_DATA',
    sandbox: { pools: 12, ...options.sandbox },
    store,
    config: { historyBackfillHours: 0, tradesBackfillHours: 0, ...config },
  });
  await gateway.untilHeight(1);
  return {
    ...gateway,
    store,
    async advanceEach(blocks) {
      for (let made = 0; made < blocks; made++) await gateway.advance();
    },
    untilRecorded: (height) => store.until(() => store.blocks.has(height)),
    metric: async (name) => readSample(await gateway.app.listen(0, '127.0.0.1'), `pdex_history_${name}`),
  };
}

/** What a recorded block has to be, by the chain of the sandbox. */
export function expectedBlock({ chain }: SandboxHosts, height: number) {
  const block = chain.block(height);
  if (block === undefined) throw new Error(`the chain has no block ${height}`);
  const pools = block.v3
    ? [...block.v3.states].map(([id, { virtual }]) => [id, ...virtual])
    : chain
        .poolsAt(height)
        .map((pool) => [
          `${pool.token1.id}-${pool.token2.id}`,
          chain.reserves(pool, height)?.reserve1,
          chain.reserves(pool, height)?.reserve2,
        ]);
  return { height, hash: block.hash, time: block.time * 1_000, pools: pools.sort(byId) };
}

/** What the trades of a recorded block have to be, by the chain of the sandbox. */
export function expectedTrades({ chain }: SandboxHosts, height: number) {
  const block = chain.block(height);
  const trades = (block?.v3?.events ?? []).flatMap((event) =>
    event.kind === 'trade'
      ? volumesOf(event.trade).map(({ poolId, sold, paid, got }, step) => ({
          ...{ poolId, transactionId: event.trade.request.id, step },
          ...{ sells: sold === 0 ? 1 : 2, sellAmount: paid, buyAmount: got },
        }))
      : [],
  );
  return { beaconHeight: height, hash: block?.hash, time: (block?.time ?? 0) * 1_000, isComplete: true, trades };
}

/** The same of a block whose trades were recorded. */
export function recordedTrades({ trades, ...block }: TradedBlock) {
  return {
    ...block,
    trades: trades.map(({ poolId, transactionId, step, sells, sellAmount, buyAmount }) => ({
      ...{ poolId, transactionId, step, sells, sellAmount, buyAmount },
    })),
  };
}

/** The same of a block that was recorded. A hash that is not known is that of the chain. */
export function recordedBlock({ chain }: SandboxHosts, { hash, time, exchange }: FinalBlock) {
  const height = exchange.beaconHeight;
  return { height, hash: hash ?? chain.block(height)?.hash, time, pools: poolsOf(exchange) };
}

/** The pools of a state, in order of their ids. */
export function poolsOf(state: ExchangeState) {
  return Array.from({ length: poolCount(state) }, (_, place) => {
    const pool = poolPairAt(state, place);
    return [poolPairId(pool), pool.reserve1, pool.reserve2];
  }).sort(byId);
}

function byId([a]: readonly unknown[], [b]: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1;
}

/** All recorded blocks, and what they have to be. */
export function allRecorded(sandbox: SandboxHosts, store: MemoryStore) {
  const recorded = [...store.blocks.values()].map((block) => recordedBlock(sandbox, block));
  return { recorded, expected: [...store.blocks.keys()].map((height) => expectedBlock(sandbox, height)) };
}
