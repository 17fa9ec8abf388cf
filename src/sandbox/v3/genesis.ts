import type { ChainMarket } from '../chain/markets.ts';
import { createRandom } from '../chain/random.ts';
import { type ChainToken, furtherToken, tokenNamed } from '../chain/tokens.ts';
import { type Amounts, amplified, type PoolState, squareRoot } from './pool.ts';
import type { V3Pool } from './trades.ts';

/** A pool of the exchange at its start. */
export type GenesisPool = V3Pool & {
  readonly token0: ChainToken;
  readonly token1: ChainToken;
  /** The market whose pool it is; `undefined` for a pool that the market-data host does not list. */
  readonly market: ChainMarket | undefined;
  readonly initial: PoolState;
};

const AMPLIFIERS = [10_000, 20_000, 22_000, 15_000, 30_000, 25_000];
const STABLE = new Set(['USDT', 'USDC', 'DAI', 'BUSD', 'GUSD']);

/** The pools of the exchange at its start: one for each market, and three that trade with nobody. */
export function v3PoolsOf(seed: number, markets: readonly ChainMarket[]): readonly GenesisPool[] {
  const listed = markets.map((market, i) => {
    // The exchange counts its tokens from 0, and the market from 1.
    const { token1: token0, token2: token1, initial, poolId } = market;
    const areStable = STABLE.has(token0.symbol ?? '') && STABLE.has(token1.symbol ?? '');
    const amplifier = areStable ? 500_000 : (AMPLIFIERS[i % AMPLIFIERS.length] ?? 10_000);
    return poolOf(poolId, [token0, token1], amplifier, withLiquidity(initial, amplifier), market);
  });
  const native = tokenNamed('PRV');
  const hex = (name: string) => createRandom(seed, 'unlisted pool', name).hex(64);
  const unlisted = (name: string, one: ChainToken, amplifier: number, initial: PoolState) =>
    poolOf(`${native.id}-${one.id}-${hex(name)}`, [native, one], amplifier, initial);
  const oneSided = withLiquidity([50_000_000_000_000n, 9_000_000_000n], 30_000);
  return [
    ...listed,
    // Emptied: all providers have withdrawn.
    unlisted('emptied', tokenNamed('newer USDT'), 22_000, {
      real: [0n, 0n],
      virtual: [0n, 0n],
      shares: 0n,
      orders: [],
    }),
    // One real side was traded away entirely. It still has a price.
    unlisted('one-sided', tokenNamed('newer ETH'), 30_000, { ...oneSided, real: [oneSided.real[0] + 9n, 0n] }),
    // Virtual amounts beyond 64 bits.
    unlisted(
      'large',
      furtherToken(1_000_000),
      200_000,
      withLiquidity([4_000_000_000_000_000n, 9_000_000_000_000_000_000n], 200_000),
    ),
  ];
}

function poolOf(
  id: string,
  [token0, token1]: readonly [ChainToken, ChainToken],
  amplifier: number,
  initial: PoolState,
  market?: ChainMarket,
): GenesisPool {
  return { id, tokens: [token0.id, token1.id], amplifier, token0, token1, market, initial };
}

function withLiquidity(real: Amounts, amplifier: number): PoolState {
  return { real, virtual: amplified(real, amplifier), shares: squareRoot(real[0] * real[1]), orders: [] };
}
