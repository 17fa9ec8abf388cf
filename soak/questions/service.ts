import type { Question } from '../judge.ts';
import type { Stage } from '../stage.ts';
import { listMisfit } from '../truth/market.ts';

/** What a gateway enforces that was told nothing else. */
const LIMITS = {
  maxDepth: 15,
  maxComplexity: 20_000,
  maxPageSize: 500,
  maxHeightsPerOperation: 64,
  maxResumedHeights: 32,
  maxSubscriptionsPerConnection: 100,
  rateLimitPerSecond: null,
  maxConnectionsPerAddress: null,
};

/** So long after a host went down or came back, the gateway must know. */
const KNOWN_WITHIN_MS = 4_000;

type Status = { readonly upstream: 'NODE' | 'MARKET_DATA'; readonly healthy: boolean };
type Told = {
  readonly service: {
    readonly sandbox: boolean;
    readonly limits: object;
    readonly marketData: { readonly ageMs: number; readonly stale: boolean } | null;
    readonly upstreams: readonly Status[];
  };
};

/** What the gateway says of itself: it must not be blind to an upstream that is down, nor hold one down that is well. */
export function askService({ outages }: Stage): Question {
  return {
    kind: 'the service',
    query: `{ service { sandbox limits { ${Object.keys(LIMITS).join(' ')} } marketData { ageMs stale } upstreams { upstream healthy } } }`,
    check(data, { sentAt, answeredAt }) {
      const { service } = data as Told;
      const { sandbox, limits, marketData, upstreams } = service;
      if (sandbox) return 'it calls itself a sandbox';
      if (upstreams.map(({ upstream }) => upstream).join() !== 'NODE,MARKET_DATA') return 'other upstreams';
      const limitsMisfit = listMisfit([limits], [LIMITS], 'limits');
      if (limitsMisfit !== undefined) return limitsMisfit;

      for (const { upstream, healthy } of upstreams) {
        if (!healthy && outages.isWell(upstream, sentAt, answeredAt)) return `${upstream} is well, but told as not`;
        if (healthy && outages.isDown(upstream, sentAt - KNOWN_WITHIN_MS, answeredAt))
          return `${upstream} is down, but told as well`;
      }
      const isFresh = marketData !== null && !marketData.stale && marketData.ageMs < KNOWN_WITHIN_MS;
      return isFresh || !outages.isWell('MARKET_DATA', sentAt, answeredAt)
        ? undefined
        : `market data is ${JSON.stringify(marketData)}`;
    },
  };
}
