import type { Freshness } from '../../live/market.ts';
import type { UpstreamHealth } from '../../upstream/health.ts';
import { builder } from '../builder.ts';
import type { Service } from '../context.ts';
import type { AddressLimits, Limits } from '../limits.ts';
import { HeadRef } from './head.ts';

const UpstreamEnum = builder.enumType('Upstream', {
  description: 'One of the two sources that this gateway reads.',
  values: {
    NODE: { description: 'The full node: the chain and the exchange state.' },
    MARKET_DATA: { description: 'The market-data host: pairs, tickers and order books.' },
  } as const,
});

const UpstreamStatusRef = builder.objectRef<UpstreamHealth>('UpstreamStatus').implement({
  description: 'How the calls to one upstream go.',
  fields: (t) => ({
    upstream: t.expose('upstream', { type: UpstreamEnum, description: 'Which one.' }),
    healthy: t.exposeBoolean('healthy', { description: 'It is configured and its last call succeeded.' }),
    lastSuccessAt: t.expose('lastSuccessAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a call last succeeded. Null when none has.',
    }),
    lastErrorAt: t.expose('lastErrorAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a call last failed. Null when none has.',
    }),
    lastErrorCode: t.exposeString('lastErrorCode', {
      nullable: true,
      description: 'What it failed with: an error code, never an address. Null when none has.',
    }),
  }),
});

const MarketDataReadingRef = builder.objectRef<Freshness>('MarketDataReading').implement({
  description: 'How fresh pairs and tickers are.',
  fields: (t) => ({
    observedAt: t.expose('observedAt', {
      type: 'DateTime',
      description: 'When the older of the two lists was last read.',
    }),
    ageMs: t.float({
      description: 'Milliseconds since observedAt.',
      resolve: (reading, _args, { service }) => service.now() - reading.observedAt,
    }),
    stale: t.exposeBoolean('stale', {
      description: 'One of the two lists cannot be read, or was not for several times the usual interval.',
    }),
  }),
});

const LimitsRef = builder.objectRef<Limits & AddressLimits>('Limits').implement({
  description:
    'What one client may ask for at once. An operation beyond a limit is QUERY_TOO_COMPLEX and is not executed.',
  fields: (t) => ({
    maxDepth: t.exposeInt('maxDepth', { description: 'How deeply selections may be nested; introspection is exempt.' }),
    maxComplexity: t.exposeInt('maxComplexity', {
      description:
        'About how many objects an answer may hold: a value counts 1/20. A list counts as its page size, one without as 100, the pairs of a pool as 10, `prices` of all pools as 1,000; each `at` adds 100, an order book 50. Introspection has an allowance of its own.',
    }),
    maxValues: t.exposeInt('maxValues', {
      description: 'About how many values an answer may hold, by the lengths that lists have now.',
    }),
    maxSchemaObjects: t.exposeInt('maxSchemaObjects', {
      description: 'About how many objects of the schema an introspection may give.',
    }),
    maxSiblings: t.exposeInt('maxSiblings', {
      description: 'How many fields may stand side by side, those of fragments among them.',
    }),
    maxNesting: t.exposeInt('maxNesting', {
      description: 'How deeply selections and fragments may be nested, in introspection too.',
    }),
    maxTokens: t.exposeInt('maxTokens', { description: 'How many lexical tokens a document may have.' }),
    maxPageSize: t.exposeInt('maxPageSize', {
      description: 'How many entries a page may have. More is BAD_USER_INPUT.',
    }),
    maxBodyBytes: t.exposeInt('maxBodyBytes', {
      description: 'How many bytes the body of a request, or a websocket message, may have.',
    }),
    maxHeightsPerOperation: t.exposeInt('maxHeightsPerOperation', {
      description: 'How many heights beside its own one operation may read.',
    }),
    maxResumedHeights: t.exposeInt('maxResumedHeights', {
      description: 'How many of the newest heights are kept for `prices(afterHeight:)`. Older ones are passed over.',
    }),
    maxOperationsPerRequest: t.exposeInt('maxOperationsPerRequest', {
      description: 'How many operations one HTTP request may bring, as an array; with 1 an array is BAD_USER_INPUT.',
    }),
    maxSubscriptionsPerConnection: t.exposeInt('maxSubscriptionsPerConnection', {
      description: 'How many operations may be open at once on one websocket. One more is RATE_LIMITED.',
    }),
    maxValuesPerConnection: t.exposeInt('maxValuesPerConnection', {
      description:
        'About how many values the operations that are open at once on one websocket may hold together. One more is RATE_LIMITED.',
    }),
    rateLimitPerSecond: t.int({
      nullable: true,
      description:
        'How many points an address gets back each second. An operation takes as many as its complexity, and a document at least one for each 50 characters; too few are RATE_LIMITED, with extensions.retryAfterMs. Null while there is no such limit.',
      resolve: ({ rate }) => rate?.pointsPerSecond,
    }),
    rateLimitBurst: t.int({
      nullable: true,
      description:
        'How many points an address has that has not asked for long. An operation that takes more runs when it has all of them. Null while there is no such limit.',
      resolve: ({ rate }) => rate?.burst,
    }),
    maxConnectionsPerAddress: t.exposeInt('maxConnectionsPerAddress', {
      nullable: true,
      description:
        'How many connections an address may have open, websockets among them. One more is RATE_LIMITED. Null while there is no such limit.',
    }),
  }),
});

const ServiceRef = builder.objectRef<Service>('Service').implement({
  description: 'This gateway: what it is, how fresh it is, and what it allows.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'Its version.' }),
    sandbox: t.exposeBoolean('isSandbox', {
      description: 'True while the built-in sandbox plays the upstreams: nothing here is real then.',
    }),
    head: t.field({
      type: HeadRef,
      nullable: true,
      description: 'The beacon height that this answer describes. Null until the first head is published.',
      resolve: (_service, _args, { loaders }) => loaders.head.described(),
    }),
    marketData: t.field({
      type: MarketDataReadingRef,
      nullable: true,
      description: 'How fresh market data is. Null until pairs and tickers were first read.',
      resolve: ({ sources: { market } }) => market.freshness(),
    }),
    upstreams: t.field({
      type: [UpstreamStatusRef],
      description: 'How the calls to each upstream go: the node first.',
      resolve: (service) => service.upstreams(),
    }),
    limits: t.expose('limits', { type: LimitsRef, description: 'Every limit that this gateway enforces.' }),
  }),
});

builder.queryField('service', (t) =>
  t.field({
    type: ServiceRef,
    description: 'What this gateway is, how fresh it is, and every limit it enforces.',
    resolve: (_root, _args, { service, loaders }) => loaders.basis.momentary(service),
  }),
);
