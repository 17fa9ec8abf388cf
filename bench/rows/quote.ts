import type { Operation } from '../graphql-client.ts';
import { type LoadGenerator, startLoadGenerator } from '../load-generator.ts';
import { quoteOf, toPost } from '../operations.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import type { Snapshot } from '../snapshot.ts';
import { GATEWAY } from '../targets.ts';
import { startTestbed } from '../testbed.ts';

/** The tokens of a trade: hubs have a third of all pools each, all others have a few. */
type Kind = {
  readonly name: string;
  readonly sellsHub: boolean;
  readonly buysHub: boolean;
  readonly isBuying: boolean;
};

const KINDS: readonly Kind[] = [
  { name: 'between two tokens with few pools', sellsHub: false, buysHub: false, isBuying: false },
  { name: 'from a token with a third of all pools', sellsHub: true, buysHub: false, isBuying: false },
  { name: 'between two tokens with a third of all pools each', sellsHub: true, buysHub: true, isBuying: false },
  { name: 'between two such tokens, for an amount that is bought', sellsHub: true, buysHub: true, isBuying: true },
];

/** The longest time that a quote may take, in milliseconds. */
const GOAL_MS = 3;

/** The number of quotes that one connection requests in a round, one after another. */
const QUOTES = 200;

/** Quotes of three hops that nobody has requested before. */
export const quote: Row = { name: 'quote', comparesCheckouts: false, run };

async function run({ quick, checkouts, log }: RowContext): Promise<readonly Result[]> {
  const sizes = quick ? [160] : [10_000];
  const [starts, rounds] = quick ? [1, 1] : [3, 2];
  const head = { unit: 'ms', better: 'less', sizeUnit: 'pools', sizes } as const;
  const about = `The best route of at most three pools, with price, price impact and amounts. A client sends ${QUOTES} requests, one after another, each with another amount.`;
  const median = createResult({
    ...head,
    title: 'A quote never seen: latency',
    about,
    samplesPerStart: rounds,
    goals: [{ target: KINDS.map(({ name }) => `${GATEWAY}, ${name}`), bound: 'at most', value: GOAL_MS }],
  });
  const slow = createResult({
    ...head,
    title: 'A quote never seen: 99th percentile of the latency',
    about,
    samplesPerStart: rounds,
    goals: [],
  });
  for (const pools of sizes) {
    for (let start = 0; start < starts; start++) {
      await using testbed = await startTestbed(checkouts, { pools });
      await using load = await startLoadGenerator();
      // The first round warms up.
      for (let round = -1; round < rounds; round++) {
        for (const kind of KINDS) {
          const requests = operationsOf(testbed.snapshot, kind, start * rounds + round + 1);
          const latency = await measure(load, testbed.gateway, requests);
          if (round < 0) continue;
          median.add(`${GATEWAY}, ${kind.name}`, pools, latency.medianMs);
          slow.add(`${GATEWAY}, ${kind.name}`, pools, latency.p99Ms);
        }
      }
      log(`${median.title}, ${pools} pools: start ${start + 1} of ${starts} done`);
    }
  }
  return [median, slow] satisfies readonly OpenResult[];
}

function measure(
  load: LoadGenerator,
  gateway: Parameters<LoadGenerator['queries']>[0],
  operations: readonly Operation[],
) {
  const requests = operations.map(toPost);
  return load.queries(gateway, { requests, seconds: 60, maxRequests: requests.length, connections: 1 });
}

/** The operations of a round. No two of all rounds have the same text. */
function operationsOf({ pools }: Snapshot, { sellsHub, buysHub, isBuying }: Kind, round: number): Operation[] {
  const counts = new Map<string, number>();
  for (const { token1, token2 } of pools)
    for (const { tokenId } of [token1, token2]) counts.set(tokenId, (counts.get(tokenId) ?? 0) + 1);
  const tokens = [...counts].sort(([, a], [, b]) => b - a).map(([tokenId]) => tokenId);
  // The three tokens of the sandbox with which most others have a pool.
  const [hubs, others] = [tokens.slice(0, 3), tokens.slice(3)];

  return Array.from({ length: QUOTES }, (_, index) => {
    const pick = (isHub: boolean, step: number) => {
      const list = isHub ? hubs : others;
      return list[(index * 7 + step) % list.length] ?? '';
    };
    const amount = String(1_000_000_000 + round * QUOTES + index);
    const sellTokenId = pick(sellsHub, 0);
    const buyTokenId = pick(buysHub, 1);
    return quoteOf({ sellTokenId, buyTokenId, [isBuying ? 'buyAmount' : 'sellAmount']: amount });
  });
}
