import type { Block } from '../chain/block.ts';
import type { Chain } from '../chain/chain.ts';
import type { ChainPool } from '../chain/pools.ts';
import { createRandom } from '../chain/random.ts';
import { type GoValue, printGo } from './go-json.ts';

/**
 * Creates the printer of results of `getpdestate`, indented by one level. It assembles lines from fragments that are the same
 * at every height, because a large exchange has a hundred thousand lines.
 */
export function createV1StatePrinter(chain: Chain): (block: Block) => string {
  const { seed, pools, providers } = chain;
  const sorted = [...pools].sort((one, other) => (one.id < other.id ? -1 : 1));
  const fragments = new Map<ChainPool, Fragments>();

  function fragmentsOf(pool: ChainPool): Fragments {
    const known = fragments.get(pool);
    if (known) return known;
    const keys = providers.of(pool.index).map((address) => `-${pool.id}-${address}": `);
    const made = {
      key: `-${pool.id}": {\n\t\t\t\t"Token1IDStr": "${pool.token1.id}",\n\t\t\t\t"Token1PoolValue": `,
      middle: `,\n\t\t\t\t"Token2IDStr": "${pool.token2.id}",\n\t\t\t\t"Token2PoolValue": `,
      providers: keys,
    };
    fragments.set(pool, made);
    return made;
  }

  return (block) => {
    const { height, reserves, shares, fees } = block;
    const shown = new Set(chain.poolsAt(height));
    const poolLines: string[] = [];
    const shareLines: string[] = [];
    const feeLines: string[] = [];

    for (const pool of sorted) {
      if (!shown.has(pool)) continue;
      const { key, middle, providers: keys } = fragmentsOf(pool);
      const [value1, value2] = reserves.subarray(pool.index * 2, pool.index * 2 + 2);
      poolLines.push(`"pdepool-${height}${key}${value1}${middle}${value2}\n\t\t\t}`);

      let place = providers.first(pool.index);
      for (const provider of keys) {
        shareLines.push(`"pdeshare-${height}${provider}${shares[place]}`);
        if (providers.earnsFees(place)) feeLines.push(`"pdetradingfee-${height}${provider}${fees[place]}`);
        place += 1;
      }
    }

    const sections = [
      `"WaitingPDEContributions": ${printGo(waitingAt(chain, seed, height), 2)}`,
      `"PDEPoolPairs": ${map(poolLines)}`,
      `"PDEShares": ${map(shareLines)}`,
      `"PDETradingFees": ${map(feeLines)}`,
      `"BeaconTimeStamp": ${block.time}`,
    ];
    return `{\n\t\t${sections.join(',\n\t\t')}\n\t}`;
  };
}

type Fragments = { readonly key: string; readonly middle: string; readonly providers: readonly string[] };

function map(lines: readonly string[]): string {
  return lines.length === 0 ? '{}' : `{\n\t\t\t${lines.join(',\n\t\t\t')}\n\t\t}`;
}

// Contributions that wait for their other half. They change every 60 blocks, and sometimes there are none.
function waitingAt({ pools, providers }: Chain, seed: number, height: number): GoValue {
  const random = createRandom(seed, 'waiting', Math.floor(height / 60));
  const waiting = new Map<string, GoValue>();
  for (let count = random.below(4); count > 0 && providers.perPool > 0; count--) {
    const pool = pools[random.below(pools.length)];
    const addresses = pool ? providers.of(pool.index) : [];
    waiting.set(`waitingpdecontribution-${height}-add-liquidity-${random.hex(6)}`, {
      ContributorAddressStr: addresses[random.below(addresses.length)] ?? '',
      TokenIDStr: pool?.token1.id ?? '',
      Amount: BigInt(random.below(2 ** 31)) * 1_000_000n,
      TxReqID: random.hex(64),
    });
  }
  return waiting;
}
