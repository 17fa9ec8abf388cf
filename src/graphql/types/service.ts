import type { FleetStatus } from '../../fleet/fleet.ts';
import type { Freshness } from '../../live/market/lists.ts';
import type { UpstreamHealth } from '../../upstream/health.ts';
import { builder } from '../builder.ts';
import { objects } from '../complexity.ts';
import type { Service } from '../context.ts';
import { ADDRESS_LIMITS, type AddressLimits, LIMITS, type LimitMeaning, type Limits, mapLimits } from '../limits.ts';
import { ExchangeVersionEnum } from './exchange.ts';
import { HeadRef } from './head.ts';

const UpstreamEnum = builder.enumType('Upstream', {
  description: 'One of the two upstreams of this gateway.',
  values: {
    NODE: { description: 'The full node: blocks and exchange state.' },
    MARKET_DATA: { description: 'The market-data host: pairs, tickers and order books.' },
  } as const,
});

const UpstreamStatusRef = builder.objectRef<UpstreamHealth>('UpstreamStatus').implement({
  description: 'Status of one upstream, from the requests that the gateway sent to it.',
  fields: (t) => ({
    upstream: t.expose('upstream', { type: UpstreamEnum, description: 'The upstream.' }),
    configured: t.boolean({
      description:
        'True if the gateway has an address for the upstream. Otherwise its fields are UPSTREAM_NOT_CONFIGURED.',
      resolve: ({ upstream }, _args, { service }) => service.configured[upstream],
    }),
    healthy: t.exposeBoolean('healthy', {
      description: 'True if the upstream is configured and the last request to it succeeded.',
    }),
    lastSuccessAt: t.expose('lastSuccessAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last successful request. Null if no request has succeeded yet.',
    }),
    lastErrorAt: t.expose('lastErrorAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last failed request. Null if no request has failed yet.',
    }),
    lastErrorCode: t.exposeString('lastErrorCode', {
      nullable: true,
      description: 'Error code of the last failed request. Null if no request has failed yet.',
    }),
  }),
});

const HistoryStatusEnum = builder.enumType('HistoryStatus', {
  description: 'Whether the recorded history can be read.',
  values: {
    RECORDING: { description: 'The gateway records final heights, or is about to begin.' },
    UNAVAILABLE: { description: 'The database cannot be used now. Fields of the history are HISTORY_UNAVAILABLE.' },
    OFF: { description: 'The gateway records nothing. Fields of the history are HISTORY_UNAVAILABLE.' },
  } as const,
});

const HISTORY_STATUS = {
  starting: 'RECORDING',
  recording: 'RECORDING',
  failing: 'UNAVAILABLE',
  refused: 'UNAVAILABLE',
  off: 'OFF',
} as const satisfies Record<ReturnType<Service['sources']['history']['status']>['state'], unknown>;

const MarketDataReadingRef = builder.objectRef<Freshness>('MarketDataReading').implement({
  description: 'Age of the pairs and tickers that the gateway serves.',
  fields: (t) => ({
    observedAt: t.expose('observedAt', {
      type: 'DateTime',
      description:
        'Time at which the gateway read pairs and tickers from the host. If the two times differ, the earlier one.',
    }),
    ageMs: t.float({
      description: 'Milliseconds since `observedAt`.',
      resolve: ({ observedAt }, _args, { service }) => service.now() - observedAt,
    }),
    stale: t.exposeBoolean('stale', {
      description:
        'True if pairs or tickers cannot be read, or if the older list has not been read for three times MARKET_POLL_MS plus UPSTREAM_TIMEOUT_MS.',
    }),
  }),
});

const FleetRef = builder.objectRef<FleetStatus>('Fleet').implement({
  description: 'How this gateway takes part in its fleet: several gateways that read the upstreams together.',
  fields: (t) => ({
    replicas: t.exposeInt('replicas', {
      description: 'Number of gateways in the fleet, with this one. 1 while this gateway is not connected.',
    }),
    connected: t.exposeBoolean('isConnected', {
      description:
        'True while this gateway reads together with the others. False while it cannot use Redis: then it reads the upstreams itself.',
    }),
  }),
});

const LimitsRef = builder.objectRef<Limits & AddressLimits>('Limits').implement({
  description:
    'Limits for each client. Unless a limit names another code, an operation that exceeds it fails with QUERY_TOO_COMPLEX and is not executed.',
  fields: (t) => ({
    ...mapLimits((name) => t.exposeInt(name, { description: toDescription(LIMITS[name]) })),
    rateLimitPerSecond: t.int({
      nullable: true,
      description: toDescription(ADDRESS_LIMITS.rateLimitPerSecond),
      resolve: ({ rate }) => rate?.pointsPerSecond,
    }),
    rateLimitBurst: t.int({
      nullable: true,
      description: toDescription(ADDRESS_LIMITS.rateLimitBurst),
      resolve: ({ rate }) => rate?.burst,
    }),
    maxConnectionsPerAddress: t.exposeInt('maxConnectionsPerAddress', {
      nullable: true,
      description: toDescription(ADDRESS_LIMITS.maxConnectionsPerAddress),
    }),
  }),
});

function toDescription({ meaning, details }: LimitMeaning): string {
  return details === undefined ? meaning : `${meaning} ${details}`;
}

const ServiceRef = builder.objectRef<Service>('Service').implement({
  description: 'Version, health and limits of this gateway.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'Version of the gateway.' }),
    time: t.dateTime(
      "Current time by the gateway's clock. A client can compute the age of other times from it, because the clock of the client may differ.",
      (service) => service.now(),
    ),
    sandbox: t.exposeBoolean('isSandbox', {
      description: 'True if the gateway runs against its built-in sandbox. All data is simulated then.',
    }),
    head: t.field({
      type: HeadRef,
      nullable: true,
      description: 'The beacon height of this response. Null until the gateway has read the node for the first time.',
      resolve: (_service, _args, { loaders }) => loaders.head.described(),
    }),
    marketData: t.field({
      type: MarketDataReadingRef,
      nullable: true,
      description: 'Age of the market data. Null until the gateway has read pairs and tickers for the first time.',
      resolve: ({ sources: { market } }) => market.freshness(),
    }),
    upstreams: t.field({
      type: [UpstreamStatusRef],
      complexity: objects(2),
      description: 'Status of each upstream: the node first, then the market-data host.',
      resolve: (service) => service.upstreams(),
    }),
    exchangeVersion: t.field({
      type: ExchangeVersionEnum,
      nullable: true,
      description:
        'The version of the exchange whose pools trade now: V3 once the node has a state of it, else V1. Fields without an argument `version` are about this one. Null until the gateway has read the node for the first time.',
      resolve: (_service, _args, { loaders }) => loaders.exchange.version(),
    }),
    historyStatus: t.field({
      type: HistoryStatusEnum,
      description: 'Whether the recorded history can be read. `Query.history` says what it covers.',
      resolve: ({ sources: { history } }) => HISTORY_STATUS[history.status().state],
    }),
    fleet: t.field({
      type: FleetRef,
      nullable: true,
      description: 'How this gateway takes part in its fleet. Null if REDIS_URL is not set.',
      resolve: (service) => service.fleet?.(),
    }),
    limits: t.expose('limits', { type: LimitsRef, description: 'All limits that this gateway enforces.' }),
  }),
});

builder.queryField('service', (t) =>
  t.field({
    type: ServiceRef,
    description: 'Version, health and limits of this gateway.',
    resolve: (_root, _args, { service, loaders }) => loaders.dependencies.expireNow(service),
  }),
);
