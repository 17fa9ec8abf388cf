import type { FleetStatus } from '../../fleet/fleet.ts';
import type { Freshness } from '../../live/market/market-follower.ts';
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
  fieldDescriptions: {
    upstream: 'The upstream.',
    configured:
      'True if the gateway has an address for the upstream. Otherwise its fields are UPSTREAM_NOT_CONFIGURED.',
    healthy:
      'True if the upstream is configured and the last request to it succeeded. With several nodes, it is true if the last request to any of them succeeded.',
    lastSuccessAt: 'Time of the last successful request. Null if no request has succeeded yet.',
    lastErrorAt: 'Time of the last failed request. Null if no request has failed yet.',
    lastErrorCode: 'Error code of the last failed request. Null if no request has failed yet.',
  },
  fields: (t) => ({
    upstream: t.expose('upstream', { type: UpstreamEnum }),
    configured: t.boolean({ resolve: ({ upstream }, _args, { service }) => service.configured[upstream] }),
    healthy: t.exposeBoolean('healthy'),
    lastSuccessAt: t.expose('lastSuccessAt', { type: 'DateTime', nullable: true }),
    lastErrorAt: t.expose('lastErrorAt', { type: 'DateTime', nullable: true }),
    lastErrorCode: t.exposeString('lastErrorCode', { nullable: true }),
  }),
});

const HistoryStatusEnum = builder.enumType('HistoryStatus', {
  description: 'Whether the recorded history can be read.',
  values: {
    RECORDING: {
      description:
        'The recorded history can be read. This gateway, or another one of its fleet, records final heights or is about to begin.',
    },
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
  fieldDescriptions: {
    observedAt:
      'Time at which the gateway read pairs and tickers from the host. If the two times differ, the earlier one.',
    ageMs: 'Milliseconds since `observedAt`.',
    stale:
      'True if pairs or tickers cannot be read, or if the older list has not been read for longer than UPSTREAM_TIMEOUT_MS plus three times MARKET_POLL_MS.',
  },
  fields: (t) => ({
    observedAt: t.expose('observedAt', { type: 'DateTime' }),
    ageMs: t.float({ resolve: ({ observedAt }, _args, { service }) => service.now() - observedAt }),
    stale: t.exposeBoolean('stale'),
  }),
});

const FleetRef = builder.objectRef<FleetStatus>('Fleet').implement({
  description: 'How this gateway takes part in its fleet: several gateways that read the upstreams together.',
  fieldDescriptions: {
    replicas: 'Number of gateways in the fleet, with this one. 1 while this gateway is not connected.',
    connected:
      'True while this gateway reads together with the others. False while it cannot use Redis, or if the others follow another chain: then it reads the upstreams itself.',
  },
  fields: (t) => ({
    replicas: t.exposeInt('replicas'),
    connected: t.exposeBoolean('isConnected'),
  }),
});

const LimitsRef = builder.objectRef<Limits & AddressLimits>('Limits').implement({
  description:
    'Limits for each client. Unless a limit names another code, an operation that exceeds it fails with QUERY_TOO_COMPLEX and is not executed.',
  fieldDescriptions: Object.fromEntries(
    Object.entries({ ...LIMITS, ...ADDRESS_LIMITS }).map(([name, limit]) => [name, toDescription(limit)]),
  ),
  fields: (t) => ({
    ...mapLimits((name) => t.exposeInt(name)),
    rateLimitPerSecond: t.int({ nullable: true, resolve: ({ rate }) => rate?.pointsPerSecond }),
    rateLimitBurst: t.int({ nullable: true, resolve: ({ rate }) => rate?.burst }),
    maxConnectionsPerAddress: t.exposeInt('maxConnectionsPerAddress', { nullable: true }),
  }),
});

function toDescription({ meaning, details }: LimitMeaning): string {
  return details === undefined ? meaning : `${meaning} ${details}`;
}

const ServiceRef = builder.objectRef<Service>('Service').implement({
  description: 'Version, health and limits of this gateway.',
  fieldDescriptions: {
    version: 'Version of the gateway.',
    time: "Current time by the gateway's clock. A client can compute the age of other times from it, because the clock of the client may differ.",
    sandbox: 'True if the gateway runs against its built-in sandbox. All data is simulated then.',
    head: 'The beacon height of this response. Null until the gateway has read the node for the first time.',
    marketData: 'Age of the market data. Null until the gateway has read pairs and tickers for the first time.',
    upstreams: 'Status of each upstream: the node first, then the market-data host.',
    exchangeVersion:
      'The version of the exchange whose pools trade now: V3 once the node has a state of it, else V1. Fields without an argument `version` are about this one. Null until the gateway has read the node for the first time.',
    historyStatus: 'Whether the recorded history can be read. `Query.history` says what it covers.',
    fleet: 'How this gateway takes part in its fleet. Null if REDIS_URL is not set.',
    limits: 'The limits of operations and connections that the operator can set.',
  },
  fields: (t) => ({
    version: t.exposeString('version'),
    time: t.field({ type: 'DateTime', resolve: (service) => service.now() }),
    sandbox: t.exposeBoolean('isSandbox'),
    head: t.field({
      type: HeadRef,
      nullable: true,
      resolve: (_service, _args, { loaders }) => loaders.head.described(),
    }),
    marketData: t.field({
      type: MarketDataReadingRef,
      nullable: true,
      resolve: ({ sources: { market } }) => market.freshness(),
    }),
    upstreams: t.field({
      type: [UpstreamStatusRef],
      complexity: objects(2),
      resolve: (service) => service.upstreams(),
    }),
    exchangeVersion: t.field({
      type: ExchangeVersionEnum,
      nullable: true,
      resolve: (_service, _args, { loaders }) => loaders.exchange.version(),
    }),
    historyStatus: t.field({
      type: HistoryStatusEnum,
      resolve: ({ sources: { history } }) => HISTORY_STATUS[history.status().state],
    }),
    fleet: t.field({ type: FleetRef, nullable: true, resolve: (service) => service.fleet?.() }),
    limits: t.expose('limits', { type: LimitsRef }),
  }),
});

builder.queryField('service', (t) =>
  t.field({
    type: ServiceRef,
    description: 'Version, health and limits of this gateway.',
    resolve: (_root, _args, { service, loaders }) => loaders.dependencies.expireNow(service),
  }),
);
