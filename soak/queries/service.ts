import type { SoakContext } from '../context.ts';
import { isV3 } from '../expected/exchange.ts';
import { listMismatch } from '../expected/market.ts';
import type { Operation } from '../judge.ts';

/** The default limits of a gateway. */
export const DEFAULT_LIMITS = {
  maxDepth: 15,
  maxComplexity: 20_000,
  maxPageSize: 500,
  maxHeightsPerOperation: 64,
  maxResumedHeights: 32,
  maxSubscriptionsPerConnection: 100,
  rateLimitPerSecond: null,
  maxConnectionsPerAddress: null,
};

/** Maximum time until the gateway reports that a host stopped or came back. */
const REPORTED_WITHIN_MS = 4_000;

type Status = { readonly upstream: 'NODE' | 'MARKET_DATA'; readonly healthy: boolean };
type Data = {
  readonly service: {
    readonly sandbox: boolean;
    readonly exchangeVersion: string | null;
    readonly head: { readonly stale: boolean } | null;
    readonly limits: object;
    readonly marketData: { readonly ageMs: number; readonly stale: boolean } | null;
    readonly upstreams: readonly Status[];
  };
};

/** The `service` field: its upstreams must be unhealthy while they are down, and healthy while they have no fault. */
export function serviceQuery({ shown, outages }: SoakContext): Operation {
  return {
    kind: 'the service',
    query: `{ service { sandbox exchangeVersion head { stale } limits { ${Object.keys(DEFAULT_LIMITS).join(' ')} } marketData { ageMs stale } upstreams { upstream healthy } } }`,
    check(data, { sentAt, answeredAt }) {
      const { service } = data as Data;
      const { sandbox, exchangeVersion, head, limits, marketData, upstreams } = service;
      if (sandbox) return 'sandbox is true';
      const isRightVersion =
        head === null ? exchangeVersion === null : exchangeVersion === (isV3(shown.chain) ? 'V3' : 'V1');
      if (!isRightVersion) return `exchangeVersion is ${exchangeVersion}`;
      if (upstreams.map(({ upstream }) => upstream).join() !== 'NODE,MARKET_DATA') return 'other upstreams';
      const limitsMismatch = listMismatch([limits], [DEFAULT_LIMITS], 'limits');
      if (limitsMismatch !== undefined) return limitsMismatch;

      for (const { upstream, healthy } of upstreams) {
        if (!healthy && outages.isWell(upstream, sentAt, answeredAt))
          return `${upstream} has no fault, but is not healthy`;
        if (healthy && outages.isDown(upstream, sentAt - REPORTED_WITHIN_MS, answeredAt))
          return `${upstream} is down, but healthy`;
      }
      // While no node can be read, the head is stale. With a fault, or long after the last block, it may be stale too.
      if (head?.stale === false && outages.isDown('NODE', sentAt - REPORTED_WITHIN_MS, answeredAt))
        return 'no node can be read, but the head is not stale';
      const isFresh = marketData !== null && !marketData.stale && marketData.ageMs < REPORTED_WITHIN_MS;
      return isFresh || !outages.isWell('MARKET_DATA', sentAt, answeredAt)
        ? undefined
        : `market data is ${JSON.stringify(marketData)}`;
    },
  };
}
